"""The frontier of a problem: points are solved one by one and kept, so that every later question begins with all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from discreet.design import design
from discreet.design.questions.frontier import Frontier, Point, repaired
from discreet.design.result import Design
from discreet.errors import InputError, TooLarge
from discreet.files.problem import problem_from_text
from discreet.model.record import Baseline
from discreet.numerics.digits import number_at_least, number_at_most
from discreet.numerics.exact import exact
from discreet.present import frontier_figure
from discreet.views.frontier import frontier_view
from discreet.views.view import View
from discreet.web.keeping import name_of, read_json, write_json
from discreet.web.questions import Reply, Setting, drawn

GAP = 1e-3
MOST_POINTS = 60
HIGHEST = 50


def points(setting: Setting, toml: str, problem: str, kind: str, levels: Sequence[str], seconds: float) -> Reply:
    """Solve these levels of ε (the problem's own when none are named) and keep them."""
    stated = problem_from_text(toml, "problem")
    own = stated.epsilon or Fraction(1)
    wanted = [exact(level, "ε") for level in levels] or [own]
    if any(not 0 < level <= HIGHEST for level in wanted):
        raise InputError(
            "A frontier shows positive ε", found=", ".join(levels), allowed=f"above 0, up to {HIGHEST}", remedy="change it"
        )
    for number, level in enumerate(wanted, start=1):
        if setting.watch.cancelled():
            break
        if len(list(_folder(setting, problem, kind).glob("*.json"))) >= MOST_POINTS:
            raise TooLarge("the frontier of one problem", size="one more point", fits=f"{MOST_POINTS} points", remedy="these stay")
        if not _place(setting, problem, kind, level).is_file():
            begun = time.perf_counter()
            found = design(stated.with_epsilon(level), setting.watch, gap=GAP, seconds=seconds / len(wanted))
            keep_point(setting, problem, kind, level, found, time.perf_counter() - begun, own=level == own)
        setting.watch.report(stage=f"point {number} of {len(wanted)}")
    return Reply(View({"levels": [str(level) for level in wanted]}, ()))


def keep_point(setting: Setting, problem: str, kind: str, level: Fraction, found: Design, seconds: float, *, own: bool) -> None:
    """Keep what a design proves at its level, for every later look along the frontier."""
    write_json(_place(setting, problem, kind, level), {
        "level": str(level), "own": own, "value": str(found.value), "bound": str(found.bound),
        "loss": number_at_most(found.loss), "lower_bound": number_at_least(found.lower_bound),
        "baselines": {name: b.loss for name, b in found.baselines.items()},
        "words": {name: b.words for name, b in found.baselines.items()}, "seconds": seconds,
    })  # fmt: skip


def frontier(setting: Setting, toml: str, problem: str, kind: str, levels: Sequence[str]) -> Reply:
    """Everything that is solved at these levels, as the command line shows it."""
    stated = problem_from_text(toml, "problem")
    solved = tuple(repaired([_point(_place(setting, problem, kind, Fraction(level))) for level in levels]))
    if not solved:
        raise InputError("No point was solved", found="nothing", allowed="one or more levels", remedy="wait for the first one")
    found = Frontier(stated, solved, sum(p.seconds for p in solved))
    return Reply(frontier_view(found), drawn(lambda: frontier_figure(found)))


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
