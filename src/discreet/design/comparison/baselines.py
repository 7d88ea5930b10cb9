"""What people do today, valued by the same decision: every design is shown beside these, and never worse than any of them."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.design.comparison.histograms import NoisyHistogram
from discreet.design.comparison.information import BestOblivious, FullInformation, NoInformation
from discreet.design.comparison.noise import (
    FaceValue,
    GeometricNoise,
    InverseSensitivityWay,
    LaplaceWay,
    StaircaseWay,
)
from discreet.design.comparison.way import Way
from discreet.design.ladder.mechanisms.proxy import geometric_baseline
from discreet.design.program.sections import Ground
from discreet.errors import DiscreetError, InputError
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.model.record import Baseline
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch

QUICK: tuple[Way, ...] = (
    NoInformation(), FullInformation(), GeometricNoise(), StaircaseWay(), FaceValue(), LaplaceWay(), InverseSensitivityWay(),
    NoisyHistogram(),
)  # fmt: skip
WAYS: tuple[Way, ...] = (*QUICK, BestOblivious())
FLOOR: tuple[Way, ...] = (NoInformation(), GeometricNoise(), StaircaseWay())
"""What a design must beat even when nobody asked for a comparison."""


def baselines(
    base: Ground, watch: Watch = SILENT, oblivious: bool = True, ways: Sequence[Way] | None = None
) -> dict[str, Baseline]:
    """Every baseline by its name; one that is refused, or does not fit in memory or time, says so and stops nothing."""
    found = {}
    for way in ways if ways is not None else WAYS if oblivious else QUICK:
        try:
            if watch.cancelled():
                raise InputError("The time was up before this baseline was begun")
            loss = way.loss(base, watch)
            if watch.cancelled():
                raise InputError("The time was up before this baseline was solved")
            found[way.name] = Baseline(way.name, -loss, way.words)
        except DiscreetError as error:
            found[way.name] = Baseline(way.name, None, f"{way.words}; not computed: {error}")
        except MemoryError:
            found[way.name] = Baseline(way.name, None, f"{way.words}; not computed: it does not fit in memory")
        watch.report(stage=f"baseline {way.name}", value=found[way.name].loss)
    return found


def ladder_baselines(problem: Problem) -> dict[str, Baseline]:
    """The baselines that need no list of states: for problems that the ladder serves."""
    universe = problem.universe
    weights = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    probabilities = getattr(problem.prior, "probabilities", None)
    if (
        weights is None
        or probabilities is None
        or len(problem.decisions) > 1
        or not isinstance(problem.decision.loss, SquaredLoss)
        or not isinstance(universe, Universe)
        or not universe.fixed
    ):
        return {}
    p, v = [float(x) for x in probabilities], [float(w) for w in weights]
    scale = float(problem.decision.weight)
    mean = sum(x * y for x, y in zip(p, v, strict=True))
    variance = universe.respondents * sum(x * (y - mean) ** 2 for x, y in zip(p, v, strict=True))
    found = {
        "no information": Baseline("no information", -scale * variance, NoInformation.words),
        "full information": Baseline("full information", 0.0, FullInformation.words),
    }
    words = GeometricNoise.words
    try:
        noisy = geometric_baseline(p, v, universe.respondents, float(problem.epsilon)).loss
        found["geometric"] = Baseline("geometric", -scale * noisy, words)
    except DiscreetError as error:
        found["geometric"] = Baseline("geometric", None, f"{words}; not computed: {error}")
    return found
