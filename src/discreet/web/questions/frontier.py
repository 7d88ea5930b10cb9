"""The frontier of a problem: points are solved one by one and kept, so that every later question begins with all of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.design import design
from discreet.design.questions.frontier import Frontier, Point, repaired
from discreet.errors import InputError
from discreet.files.problem import problem_from_text
from discreet.model.problem import Problem
from discreet.model.record import Baseline
from discreet.numerics.digits import number_at_least, number_at_most
from discreet.numerics.exact import exact
from discreet.present import frontier_figure
from discreet.views.frontier import frontier_view
from discreet.web.keeping import name_of, read_json, write_json
from discreet.web.questions import Reply, Setting, drawn

GAP = 1e-3
MOST_POINTS = 60


def levels_of(epsilon: Fraction) -> list[Fraction]:
    """Where a frontier begins: around the problem's own ε, from an eighth to three times as much."""
    own = epsilon or Fraction(1)
    return [own, own / 2, own * 2, own / 4, own * 3 / 2, own * 3, own / 8]


def frontier(setting: Setting, toml: str, problem: str, levels: Sequence[str], seconds: float) -> Reply:
    """Solve these levels of ε (the first ones when none are named), then show all that is solved."""
    stated = problem_from_text(toml, "problem")
    folder = setting.home / "points" / problem
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [exact(level, "ε") for level in levels] or levels_of(stated.epsilon)
    if any(not 0 < level <= 50 for level in wanted):
        raise InputError("A frontier shows positive ε", found=", ".join(levels), allowed="above 0, up to 50", remedy="change it")
    for number, level in enumerate(wanted, start=1):
        place = folder / f"{name_of('point', str(level))}.json"
        if setting.watch.cancelled() or place.is_file():
            continue
        if len(list(folder.glob("*.json"))) >= MOST_POINTS:
            break
        write_json(place, solved(stated, level, setting, seconds / len(wanted)))
        setting.watch.report(stage=f"point {number} of {len(wanted)}")
    points = tuple(repaired(list(_points(folder))))
    if not points:
        raise InputError("No point was solved", found="a stop before the first one", allowed="some time", remedy="ask again")
    found = Frontier(stated, points, sum(p.seconds for p in points))
    return Reply(frontier_view(found), drawn(lambda: frontier_figure(found)))


def solved(problem: Problem, level: Fraction, setting: Setting, seconds: float) -> dict[str, Any]:
    """One point as it is kept: what a later process needs, and what a page shows."""
    begun = time.perf_counter()
    found = design(problem.with_epsilon(level), setting.watch, gap=GAP, seconds=seconds)
    return {
        "epsilon": str(level), "value": str(found.value), "bound": str(found.bound),
        "loss": number_at_most(found.loss), "lower_bound": number_at_least(found.lower_bound),
        "baselines": {name: b.loss for name, b in found.baselines.items()},
        "words": {name: b.words for name, b in found.baselines.items()}, "seconds": time.perf_counter() - begun,
    }  # fmt: skip


def _points(folder: Path) -> Iterator[Point]:
    for place in sorted(folder.glob("*.json")):
        kept = read_json(place)
        level = Fraction(kept["epsilon"])
        losses, words = kept["baselines"], kept["words"]
        baselines = {name: Baseline(name, None if loss is None else 0.0 - loss, words[name]) for name, loss in losses.items()}
        yield Point(level, Fraction(kept["value"]), Fraction(kept["bound"]), baselines, kept["seconds"], level, level)
