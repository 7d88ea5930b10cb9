"""The urn bound among players: which types play, in which blocks their number is taken, and the programs of all blocks.

With many respondents most of them have cheap types, and what they have need not be hidden: the urn of those with the likeliest
type and with the dear ones has hundreds of states where that of all types has thousands (`certify.bounds.urn_players`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.certify.bounds.urn import urn_of
from discreet.certify.bounds.urn_players import MOST_RESPONDENTS
from discreet.design.ladder.bounds.urn_forms import likeliest
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.problem import Problem
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe
from discreet.numerics.arrays import Floats

DEAR = (3, 4, 2)
"""So many types play beside the likeliest one, tried in this order: more hide more, and have more states."""
FEWEST_PLAYERS, MOST_PLAYERS = 10, 400
"""Of a block: fewer hide little, and more have too many states."""
RARELY = 0.02
"""So often the players may be too few for any block."""
MOST_BLOCKS, WELL_KEPT = 6, 0.955
"""Blocks of their number, as many as keep so much of the prior."""


@dataclass(frozen=True, eq=False)
class Block:
    """A number of players from `first` to `last`, its probability, and by the count of the reference what is kept of losses."""

    first: int
    last: int
    chance: float
    kept: Floats
    held: float
    """The part of the prior of `first` players that is kept."""


def who_may_play(problem: Problem) -> list[tuple[int, ...]]:
    """The likeliest type with those that are farthest from it; never all."""
    urn, own = urn_of(problem), likeliest(problem)
    others = [i for i, c in enumerate(urn.contents) if c and i != own]
    others.sort(key=lambda i: -abs(urn.values[i] - urn.values[own]))
    if urn.respondents > MOST_RESPONDENTS:
        return []
    return [tuple(sorted((own, *others[:k]))) for k in DEAR if k < len(others)]


def blocks_of(problem: Problem, types: tuple[int, ...]) -> list[Block]:
    """The fewest blocks, each as wide as the others in ratio, that keep enough of the prior."""
    from scipy.special import gammaln

    urn = urn_of(problem)
    n, whole = urn.respondents, float(sum(urn.contents))
    playing = float(sum(urn.contents[t] for t in types))
    m = np.arange(n + 1.0)
    a, b = playing, whole - playing
    chances = np.exp(
        gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
        + gammaln(a + m) - gammaln(a) + gammaln(b + n - m) - gammaln(b) - gammaln(whole + n) + gammaln(whole)
    )  # fmt: skip
    lowest = max(FEWEST_PLAYERS, int(np.searchsorted(np.cumsum(chances), RARELY)))
    if lowest >= min(n, MOST_PLAYERS):
        return []
    own = float(urn.contents[likeliest(problem)])
    found: list[Block] = []
    for count in range(1, MOST_BLOCKS + 1):
        ends = np.unique(np.round(lowest * ((n + 1) / lowest) ** (np.arange(count + 1) / count)).astype(int))
        pairs = zip(ends[:-1].tolist(), (ends[1:] - 1).tolist(), strict=True)
        found = [_block(first, last, float(chances[first : last + 1].sum()), own, playing) for first, last in pairs]
        if sum(block.chance * block.held for block in found) >= WELL_KEPT * sum(block.chance for block in found):
            break
    return [block for block in found if block.first <= MOST_PLAYERS]


def _block(first: int, last: int, chance: float, own: float, playing: float) -> Block:
    from scipy.special import gammaln

    others = np.arange(first + 1.0)
    ratio = np.ones(first + 1)
    kept = ratio.copy()
    for m in range(first, last):
        ratio = ratio * (m + 1) * (own + m - others) / ((m + 1 - others) * (playing + m))
        kept = np.minimum(kept, ratio)
    rest = playing - own
    law = np.exp(
        gammaln(first + 1.0) - gammaln(others + 1) - gammaln(first - others + 1) + gammaln(rest + others) - gammaln(rest)
        + gammaln(own + first - others) - gammaln(own) - gammaln(playing + first) + gammaln(playing)
    )  # fmt: skip
    return Block(first, last, chance, kept[::-1].copy(), float(law @ kept))


def among(problem: Problem, types: tuple[int, ...], players: int) -> Problem:
    """The problem that is left when so many play: values measured from the likeliest type's, real actions."""
    urn, decision = urn_of(problem), problem.decision
    own = urn.values[likeliest(problem)]
    return replace(
        problem,
        universe=Universe.of(players, tuple(urn.values[t] - own for t in types)),
        prior=DirichletMultinomialPrior(tuple(urn.contents[t] for t in types)),
        statistic=SumStatistic(),
        decisions=(Decision(decision.loss, RealActions(), weight=decision.weight),),
        notes=(),
    )
