"""The frontier of a problem: points are solved one by one and kept, so that every later question begins with all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from discreet.design import design
from discreet.design.concentrated.equal_promises import Equal
from discreet.design.questions.frontier import Frontier, Point, repaired
from discreet.design.questions.two_promises import TwoPromises
from discreet.design.questions.two_promises import beside as equals_of
from discreet.design.result import Design
from discreet.errors import InputError, TooLarge
from discreet.files.problem import problem_from_text
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, PurePromise
from discreet.model.record import Baseline
from discreet.numerics.digits import number_at_least, number_at_most
from discreet.numerics.exact import exact
from discreet.present import frontier_figure, two_promises_figure
from discreet.views.frontier import frontier_view
from discreet.views.two_promises import two_promises_view
from discreet.views.view import View
from discreet.web.keeping import name_of, read_json, write_json
from discreet.web.questions import Reply, Setting, drawn

GAP = 1e-3
MOST_POINTS = 60
HIGHEST = 50
BESIDE = "beside"
EQUAL = ("level", "rho", "epsilon", "same_rho", "same_epsilon")


def points(
    setting: Setting, toml: str, problem: str, kind: str, levels: Sequence[str], seconds: float, beside: bool = False
) -> Reply:
    """Solve these levels of ε or ρ (the problem's own when none are named) and keep them.

    `beside` solves what promises as much under the other promise instead: at equal ρ, and at equal ε for a small δ.
    """
    stated = problem_from_text(toml, "problem")
    own = stated.promise.level or Fraction(1)
    wanted = [exact(level, "level") for level in levels] or [own]
    if any(not 0 < level <= HIGHEST for level in wanted):
        raise InputError(
            "A frontier shows levels above 0", found=", ".join(levels), allowed=f"above 0, up to {HIGHEST}", remedy="change it"
        )
    if not beside:
        for level in wanted:
            _solve(setting, problem, stated.with_level(level), level == own, seconds / len(wanted))
        return Reply(View({"levels": [str(level) for level in wanted]}, ()))
    other, equals = equals_of(stated, wanted)
    for equal in equals:
        for level in (equal.same_rho, equal.same_epsilon):
            _solve(setting, problem, other.with_level(level), False, seconds / len(equals), compare=False)
        if not setting.watch.cancelled():
            document = {name: str(getattr(equal, name)) for name in EQUAL}
            write_json(_place(setting, problem, BESIDE, equal.level), document)
    return Reply(View({"levels": [str(equal.level) for equal in equals]}, ()))


def _solve(setting: Setting, problem: str, asked: Problem, own: bool, seconds: float, *, compare: bool = True) -> None:
    kind, level = asked.promise.keys[0], asked.promise.level
    if setting.watch.cancelled() or _place(setting, problem, kind, level).is_file():
        return
    if len(list(_folder(setting, problem, kind).glob("*.json"))) >= MOST_POINTS:
        raise TooLarge("the frontier of one problem", size="one more point", fits=f"{MOST_POINTS} points", remedy="these stay")
    begun = time.perf_counter()
    found = design(asked, setting.watch, gap=GAP, seconds=seconds, compare=compare)
    keep_point(setting, problem, kind, level, found, time.perf_counter() - begun, own=own)
    setting.watch.report(stage=f"{asked.promise.brief()} is solved")


def keep_point(setting: Setting, problem: str, kind: str, level: Fraction, found: Design, seconds: float, *, own: bool) -> None:
    """Keep what a design proves at its level, for every later look along the frontier."""
    write_json(_place(setting, problem, kind, level), {
        "level": str(level), "own": own, "value": str(found.value), "bound": str(found.bound),
        "loss": number_at_most(found.loss), "lower_bound": number_at_least(found.lower_bound),
        "baselines": {name: b.loss for name, b in found.baselines.items()},
        "words": {name: b.words for name, b in found.baselines.items()}, "seconds": seconds,
    })  # fmt: skip


def frontier(setting: Setting, toml: str, problem: str, kind: str, levels: Sequence[str], beside: Sequence[str] = ()) -> Reply:
    """Everything that is solved at these levels, as the command line shows it; `beside`: where the other promise is solved, too."""
    stated = problem_from_text(toml, "problem")
    found = _frontier(stated, [_place(setting, problem, kind, Fraction(level)) for level in levels])
    view, figures = frontier_view(found), drawn(lambda: frontier_figure(found))
    if not beside:
        return Reply(view, figures)
    kept = [read_json(_place(setting, problem, BESIDE, Fraction(level))) for level in beside]
    equals = tuple(Equal(*(Fraction(document[name]) for name in EQUAL)) for document in kept)
    other = stated.with_promise((PurePromise if kind == "rho" else ConcentratedPromise)(equals[0].same_rho))
    solved = sorted({level for equal in equals for level in (equal.same_rho, equal.same_epsilon)})
    places = [_place(setting, problem, other.promise.keys[0], level) for level in solved]
    together = TwoPromises(found, _frontier(other, places), equals)
    both = drawn(lambda: two_promises_figure(together)) if len(equals) > 1 else ()  # one point is no curve
    return Reply(view + two_promises_view(together), (*figures, *both))


def _frontier(stated: Problem, places: Sequence[Path]) -> Frontier:
    solved = tuple(repaired([_point(place) for place in places]))
    if not solved:
        raise InputError("No point was solved", found="nothing", allowed="one or more levels", remedy="wait for the first one")
    return Frontier(stated, solved, sum(p.seconds for p in solved))


def _point(place: Path) -> Point:
    kept = read_json(place)
    level = Fraction(kept["level"])
    losses, words = kept["baselines"], kept["words"]
    baselines = {name: Baseline(name, None if loss is None else 0.0 - loss, words[name]) for name, loss in losses.items()}
    return Point(level, Fraction(kept["value"]), Fraction(kept["bound"]), baselines, kept["seconds"], level, level)


def _folder(setting: Setting, problem: str, kind: str) -> Path:
    folder = setting.home / "points" / problem / kind
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _place(setting: Setting, problem: str, kind: str, level: Fraction) -> Path:
    return _folder(setting, problem, kind) / f"{name_of('point', str(level))}.json"
