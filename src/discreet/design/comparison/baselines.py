"""What people do today, valued by the same decision: every design is shown beside these, and never worse than any of them."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.design.comparison.gaussian import GaussianFaceValue, GaussianWay
from discreet.design.comparison.histograms import NoisyHistogram
from discreet.design.comparison.information import BestOblivious, FullInformation, NoInformation
from discreet.design.comparison.noise import (
    FaceValue,
    GeometricNoise,
    InverseSensitivityWay,
    LaplaceWay,
    StaircaseWay,
)
from discreet.design.comparison.unbiased import UNBIASED_WAYS
from discreet.design.comparison.way import Way
from discreet.design.memory import words_of
from discreet.design.program.sections import Ground
from discreet.errors import DiscreetError, InputError
from discreet.model.problem import Problem
from discreet.model.record import Baseline
from discreet.watch import SILENT, Watch

QUICK: tuple[Way, ...] = (
    NoInformation(), FullInformation(), GeometricNoise(), StaircaseWay(), FaceValue(), LaplaceWay(), InverseSensitivityWay(),
    NoisyHistogram(), GaussianWay(), GaussianFaceValue(),
)  # fmt: skip
WAYS: tuple[Way, ...] = (*QUICK, BestOblivious())
FLOOR: tuple[Way, ...] = (NoInformation(), GeometricNoise(), StaircaseWay())
"""What a design must beat even when nobody asked for a comparison."""


def ways_of(problem: Problem, oblivious: bool = False) -> tuple[Way, ...]:
    """What a design for this problem is compared with: ways that do what it asks for, and read no more than it may.

    The best that reads only the statistic is what an oblivious search looks for, so nobody looks for it beside that.
    """
    if problem.unbiased is not None:
        return UNBIASED_WAYS
    return tuple(way for way in QUICK if not way.reads_more) if oblivious else WAYS


def baselines(
    base: Ground,
    watch: Watch = SILENT,
    oblivious: bool = True,
    ways: Sequence[Way] | None = None,
    found: dict[str, Baseline] | None = None,
) -> dict[str, Baseline]:
    """Every baseline by its name; one that is refused, or does not fit in memory or time, says so and stops nothing.

    `found` is filled one by one, so that those before one that never ends are kept.
    """
    found = {} if found is None else found
    if base.problem.unbiased is not None:
        ways = UNBIASED_WAYS
    for way in ways if ways is not None else WAYS if oblivious else QUICK:
        if not isinstance(base.problem.promise, way.serves):
            continue
        try:
            if watch.cancelled():
                raise InputError("The time was up before this baseline was begun")
            loss = way.loss(base, watch)
            if watch.cancelled():
                raise InputError("The time was up before this baseline was solved")
            found[way.name] = Baseline(way.name, -loss, way.words)
        except DiscreetError as error:
            found[way.name] = Baseline(way.name, None, f"{way.words}; not computed: {error}")
        except MemoryError as error:
            found[way.name] = Baseline(way.name, None, f"{way.words}; not computed: {words_of(error)}")
        watch.report(stage=f"baseline {way.name}", value=found[way.name].loss)
    return found
