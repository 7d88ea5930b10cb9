"""Every picture of the house once, from problems small enough to be solved while one waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from said import Said, recorded

from discreet import design
from discreet.currencies.profiles import profile
from discreet.design.questions.allocation import allocate
from discreet.design.questions.family import design_family
from discreet.design.questions.frontier import frontier
from discreet.design.questions.regret_surface import corners, drawn_around, surface
from discreet.design.questions.robust import robust_design
from discreet.design.questions.smallest_epsilon import saving
from discreet.design.questions.two_promises import two_promises
from discreet.gallery.papers import figures_hypers as pair
from discreet.gallery.papers import figures_setting as correlated
from discreet.gallery.papers import peaks as peaks_index
from discreet.geometry.orders.frechet import frechet
from discreet.interpret.bounds import binary_sum_laplace
from discreet.interpret.choosing import choose
from discreet.interpret.column_errors import column_errors, missed_prior
from discreet.interpret.totals import CellBeliefs, PublishedGroup, cell_beliefs, total
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic, TableStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.present import (
    Figure,
    adding_figure,
    allocation_figure,
    beside,
    choice_figure,
    compared_risks_figure,
    comparison_figure,
    delta_figure,
    density_band_figure,
    density_figure,
    family_figure,
    frechet_figure,
    frontier_figure,
    levels_figure,
    mechanism_figure,
    posterior_figure,
    priors_figure,
    regions_figure,
    regret_figure,
    relative_risk_figure,
    simplex_figure,
    total_figure,
    tradeoff_figure,
    two_promises_figure,
)
from discreet.publish.levels import LevelledCells
from discreet.views.total import AskedRegion, AskedTotal

NAMES = (
    "adding", "allocation", "beside", "choice", "choice-limits", "compared-risks", "comparison", "delta", "density",
    "density-band", "family", "frechet", "frontier", "levels", "mechanism", "posterior", "priors", "regret",
    "regret-counts", "relative-risk", "simplex", "total", "total-regions", "tradeoff", "two-promises",
)  # fmt: skip


def problem(respondents: int = 3, values: Any = (0, 1), probabilities: Any = ("0.7", "0.3"), epsilon: Any = 1) -> Problem:
    """A sum of independent values, squared error, real actions."""
    return Problem(
        universe=Universe.of(respondents, tuple(map(Fraction, values))), neighbours=ReplaceOne(),
        prior=IidPrior(tuple(map(Fraction, probabilities))), statistic=SumStatistic(),
        decisions=(Decision(SquaredLoss(), RealActions()),), promise=PurePromise(Fraction(epsilon)), unit="household",
    )  # fmt: skip


@cache
def found(respondents: int = 3, types: int = 2, epsilon: Fraction = Fraction(1)) -> design.Design:
    """A design, kept."""
    chances = {2: ("0.7", "0.3"), 3: ("0.89", "0.09", "0.02")}[types]
    return design.design(problem(respondents, range(types), chances, epsilon), compare=types == 2)


def mechanism(respondents: int = 3, types: int = 2) -> Mechanism:
    """Its mechanism."""
    return found(respondents, types).mechanism


def noisy() -> Mechanism:
    """Geometric noise on the number of respondents with a positive value, in the problem of six with three types."""
    return geometric_mechanism(found(6, 3).mechanism.problem, LinearSummary((0, 1, 1)))


def folded() -> Problem:
    """Three values of a statistic that does not follow the count: noise cannot do what other mechanisms can."""
    table = (("3,0", Fraction(0)), ("2,1", Fraction(1)), ("1,2", Fraction(2)), ("0,3", Fraction(0)))
    return replace(problem(3, probabilities=("1/2", "1/2")), statistic=TableStatistic(table, by="histogram"))


SAID: dict[str, list[Said]] = {}
"""Which numbers became text in each picture."""


@cache
def picture(name: str) -> Figure:
    """One picture by its name."""
    with recorded() as SAID[name]:
        return _picture(name)


def _picture(name: str) -> Figure:
    return {
        "adding": lambda: adding_figure(column_errors(mechanism()), column_errors(mechanism(), missed_prior(mechanism()))),
        "allocation": _allocation,
        "beside": lambda: beside("Both", [_picture("delta"), _picture("tradeoff")]),
        "choice": _choice,
        "choice-limits": lambda: choice_figure(choose(problem(4))),
        "compared-risks": lambda: compared_risks_figure(mechanism(6, 3), noisy(), ("design", "geometric")),
        "comparison": lambda: comparison_figure(found()),
        "delta": lambda: delta_figure(profile(mechanism()), 1.0),
        "density": lambda: density_figure(mechanism()),
        "density-band": _band,
        "family": lambda: family_figure(design_family(problem(3), [1, 2, 3, 4], workers=1)),
        "frechet": _frechet,
        "frontier": _frontier,
        "levels": lambda: levels_figure(_levels()),
        "mechanism": lambda: mechanism_figure(mechanism(6, 3)),
        "posterior": lambda: posterior_figure(mechanism()),
        "priors": _priors,
        "regret": lambda: regret_figure(surface(mechanism(), corners(problem(), [Fraction(1, 10), Fraction(1, 5)]), workers=1)),
        "regret-counts": lambda: regret_figure(surface(mechanism(), drawn_around(problem(), 4, 7, [70, 30]), workers=1)),
        "relative-risk": lambda: relative_risk_figure(*pair(), ("geometric", "peak and valley"), second_labels=["peak", "valley"]),
        "simplex": lambda: simplex_figure(correlated(), dict(zip(("geometric", "peak and valley"), pair(), strict=True))),
        "total": lambda: total_figure(AskedTotal(total(_cells(), np.arange(6)))),
        "total-regions": lambda: regions_figure(
            [AskedRegion(f"region {i}", total(_cells(), np.arange(i, i + 3)), None) for i in range(3)]
        ),
        "tradeoff": lambda: tradeoff_figure(profile(mechanism()), 1.0),
        "two-promises": lambda: two_promises_figure(two_promises(problem(2), [Fraction(1, 2), Fraction(1)], workers=1)),
    }[name]()


def _levels() -> LevelledCells:
    """Two blocks in one county."""
    numbers = np.array([1.0, 2.5, 3.5])
    return LevelledCells(
        (("county", "block"), ("county",)),
        np.array([0, 0, 1]),
        (("west", "a"), ("west", "b"), ("west",)),
        np.array([3, 3, 6]),
        numbers,
        numbers / 4,
        numbers - 1,
        numbers + 1,
        np.array([1.0, 3.0, 4.0]),
        numbers,
        numbers / 2,
        numbers - 0.3,
        0.9,
    )


def _cells() -> CellBeliefs:
    """Six cells of three respondents each, some alike."""
    outputs = np.array([0, 1, 1, 2, 0, 3])[:, None] % len(mechanism().outputs)
    return cell_beliefs([PublishedGroup(np.arange(6), (mechanism(),), outputs)])


def _allocation() -> Figure:
    named = [("first", problem(2), Fraction(1)), ("second", problem(3), Fraction(1))]
    split, curves = allocate(named, Fraction(2), steps=4, rounds=1, workers=1)
    return allocation_figure(split, curves)


def _choice() -> Figure:
    levels = [Fraction(1, 2), Fraction(1), Fraction(2)]
    made = {e: found(3, 2, e) for e in levels}
    table = choose(
        problem(3), levels, frontier=[(e, float(d.loss)) for e, d in made.items()], mechanism_at=lambda e: made[e].mechanism
    )
    return choice_figure(table)


def _band() -> Figure:
    t = np.linspace(-5, 15, 81)
    low, high = binary_sum_laplace(t, 10, 0.1)
    return density_band_figure(t, low, high, {"five ones": (0.05 * np.exp(-0.1 * np.abs(t - 5))).tolist()})


def _frechet() -> Figure:
    first, second = pair()
    shown = {"geometric": frechet(first, peaks_index(first)), "peak and valley": frechet(second, [1, 0])}
    return frechet_figure(shown, first.states)


def _frontier() -> Figure:
    curve = frontier(problem(3), [Fraction(1, 2), Fraction(1), Fraction(2)], workers=1)
    other = curve.points[1].baselines["laplace"].loss
    assert other is not None
    return frontier_figure(curve, saving(problem(3), "laplace", other))


def _priors() -> Figure:
    priors = [IidPrior((Fraction(7, 10), Fraction(3, 10))), IidPrior((Fraction(1, 2), Fraction(1, 2)))]
    return priors_figure(robust_design(problem(2), priors, seconds=20, workers=1))


def views(body: dict[str, Any]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Each view of a body as its place in a row and its layers."""
    parts = body.get("hconcat") or body.get("concat") or [body]
    for place, part in enumerate(parts):
        yield place, part.get("layer") or [part]


def write_release(folder: Path, rows: list[str], head: str = "") -> Path:
    """A release folder with nothing but its table."""
    folder.mkdir()
    top = head or "street,size,published,action,posterior_mean,interval_low_0.9,interval_high_0.9"
    (folder / "release.csv").write_text("\n".join([top, *rows, ""]), encoding="utf-8")
    return folder
