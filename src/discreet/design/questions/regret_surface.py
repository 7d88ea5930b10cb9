"""Regret surfaces: what following a mechanism costs as the truth moves away from its prior.

Neighbourhoods of an iid prior p:
`corners`       p(κ, t) = (1−κ)p + κ·e_t for shares κ and every type t                      (BG's ε-contamination, corners)
`drawn_around`  draws of p from Dirichlet(counts + pseudo-count): what the reference data leave open about p
Each place is designed anew to know the least loss there, side by side within a time for all; the regret lies between `low` and
`high`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.design.best_mechanism import design
from discreet.design.crew.side_by_side import side_by_side
from discreet.design.questions.regret import corner_priors, under
from discreet.design.schedule import cores
from discreet.errors import InputError
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch

DECIMALS = 10**6


@dataclass(frozen=True)
class Place:
    """One prior: where it is, the loss and bias of following there, the loss of re-reading, the least possible (both sides)."""

    prior: tuple[Fraction, ...]
    radius: float | None
    towards: int | None
    followed: float
    reread: float
    least: float
    reached: float
    bias: float

    @property
    def low(self) -> float:
        return max(self.followed - self.reached, 0.0)

    @property
    def high(self) -> float:
        return self.followed - self.least


@dataclass(frozen=True)
class Surface:
    """Places with their regret; `kind` says how they were chosen, `values` what each type is worth."""

    kind: str
    places: tuple[Place, ...]
    values: tuple[Fraction, ...] = ()

    @property
    def worst(self) -> Place:
        return max(self.places, key=lambda p: p.high)


@dataclass(frozen=True)
class Spot:
    """A prior to look at: (1−κ)p + κ·e_t with radius κ towards type t, or a drawn one."""

    prior: IidPrior
    radius: float | None = None
    towards: int | None = None


def corners(problem: Problem, radii: Sequence[Fraction]) -> tuple[Spot, ...]:
    """The corners of neighbourhoods of several radii."""
    return tuple(Spot(prior, float(radius), t) for radius in radii for t, prior in enumerate(corner_priors(problem, radius)))


def drawn_around(problem: Problem, draws: int, seed: int, counts: Sequence[int] | None = None) -> tuple[Spot, ...]:
    """Priors drawn around reference counts (the problem's own unless others are given), with a stated seed."""
    import numpy as np

    prior = problem.prior
    if counts is None and isinstance(prior, ReferencePrior):
        concentration = [float(c + prior.pseudo_count) for c in prior.counts]
    elif counts is not None:
        concentration = [float(c) for c in counts]
    else:
        raise InputError(
            "There are no reference counts to draw around",
            found=f"a prior of kind {prior.kind}",
            allowed="a reference prior, or counts",
            remedy="give the counts of each type in the reference data",
        )
    if draws < 1 or min(concentration) <= 0:
        raise InputError(
            "Draws around counts need positive counts",
            found=f"{draws} draws, smallest count {min(concentration):g}",
            allowed="one draw or more, counts above 0",
            remedy="set prior.pseudo_count, for instance 0.5",
        )
    rows = np.random.default_rng(seed).dirichlet(concentration, draws)
    size = getattr(prior, "size", None)
    return tuple(Spot(_decimal(row.tolist(), size)) for row in rows)


def surface(
    mechanism: Mechanism,
    spots: Sequence[Spot],
    watch: Watch = SILENT,
    *,
    gap: float = 1e-4,
    seconds: float = 60.0,
    workers: int | None = None,
) -> Surface:
    """Regret at each prior, each with its share of the time; what time did not reach is left out."""
    problem = mechanism.problem
    share = seconds * min(workers or cores(), len(spots)) / max(len(spots), 1)
    tasks = [(replace(problem, prior=spot.prior), gap, share) for spot in spots]
    found = side_by_side(least_loss, tasks, watch, workers, "prior")
    places = []
    for spot, sides in zip(spots, found, strict=True):
        if sides is None:
            continue
        view = under(mechanism, replace(problem, prior=spot.prior))
        places.append(Place(spot.prior.probabilities, spot.radius, spot.towards, view.followed, view.reread, *sides, view.bias))
    if not places:
        raise InputError("No place was finished", found="cancelled", allowed="time for one", remedy="allow more time")
    return Surface("contamination" if spots[0].radius is not None else "around counts", tuple(places), _values(problem))


def _values(problem: Problem) -> tuple[Fraction, ...]:
    return problem.universe.values if isinstance(problem.universe, Universe) else ()


def _decimal(row: list[float], size: tuple[Fraction, ...] | None) -> IidPrior:
    """Probabilities with six decimals that sum to one, none of them zero."""
    whole = [max(1, round(x * DECIMALS)) for x in row]
    whole[whole.index(max(whole))] += DECIMALS - sum(whole)
    return IidPrior(tuple(Fraction(w, DECIMALS) for w in whole), size)


def least_loss(task: tuple[Problem, float, float], watch: Watch) -> tuple[float, float]:
    """Both sides of the least loss of one problem."""
    problem, gap, seconds = task
    found = design(problem, watch, gap=gap, seconds=seconds, compare=False)
    return float(found.lower_bound), float(found.loss)
