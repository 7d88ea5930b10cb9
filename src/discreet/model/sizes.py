"""Cells of other sizes: the same problem for n respondents, and the problem of a bucket of sizes padded to its largest.

`resized`  the universe {0..T}^n with the same values, prior per respondent, statistic and decision.
`padded`   a bucket of sizes up to N: each cell is filled up to N places with the type `absent`, of value 0 that nothing
           counts. Each place is absent with probability a and otherwise as the prior says. One replacement may turn a
           respondent absent, so a padded mechanism also hides whether somebody is in the cell.
           Where a type already adds nothing to the statistic, absent is that type: merging two types that ω cannot
           tell apart loses nothing when respondents are independent, because how they split says nothing about ω.
`at_size`  the same padded problem when the cell holds exactly n respondents: what the loss at the true size is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.errors import InputError
from discreet.model.actions import ListedActions
from discreet.model.decision import Decision, integer_actions
from discreet.model.losses import TableLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, ExchangeablePrior, IidPrior, MixturePrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.statistic import CountStatistic, MeanStatistic, SumStatistic, TableStatistic, linear_range
from discreet.model.universe import Universe


def resized(problem: Problem, size: int) -> Problem:
    """The same problem for a cell of another size."""
    universe = must_scale(problem)
    if size == universe.respondents:
        return problem
    other = Universe.of(size, universe.values)
    return replace(problem, universe=other, decisions=_rescaled(problem, universe, other))


def padded(problem: Problem, largest: int, absent: Fraction) -> Problem:
    """The problem of cells filled up to `largest` respondents, each place absent with probability `absent`."""
    universe = must_scale(problem)
    prior = problem.prior
    if not isinstance(prior, (IidPrior, ReferencePrior)) or isinstance(problem.statistic, MeanStatistic):
        raise InputError(
            "This problem cannot be padded to a bucket of sizes",
            found=f"a prior of kind {prior.kind}, the statistic {problem.statistic.kind}",
            allowed="an iid or reference prior with a sum or a count",
            remedy="give every size a mechanism of its own, or publish the sum and divide by the public size",
        )
    if not 0 < absent < 1:
        raise InputError(
            "The probability of an absent place lies between 0 and 1",
            found=str(absent),
            allowed="above 0, below 1",
            remedy="a bucket needs sizes below its largest",
        )
    plain = Universe.of(largest, universe.values)
    decisions = _rescaled(problem, universe, plain)
    shared = absent_type(problem)
    present = [(1 - absent) * p for p in prior.probabilities]
    if shared is None:
        other = Universe.of(largest, (*universe.values, Fraction(0)))
        return replace(problem, universe=other, prior=IidPrior((*present, absent)), decisions=decisions)
    present[shared] += absent
    return replace(problem, universe=plain, prior=IidPrior(tuple(present)), decisions=decisions)


def absent_type(problem: Problem) -> int | None:
    """The type that adds nothing to the statistic, which absent places share; None when absent is a type of its own."""
    universe = must_scale(problem)
    weights = problem.statistic.weights(universe) or ()
    return next((t for t, weight in enumerate(weights) if weight == 0), None)


def filled_up(counts: Sequence[int], places: int, absent: int) -> tuple[int, ...]:
    """A cell's histogram with the remaining places counted as type `absent` (one more type when there is none yet)."""
    full = [*counts, 0] if absent == len(counts) else list(counts)
    full[absent] += places - sum(counts)
    return tuple(full)


def at_size(bucket: Problem, absent: int, probability: Fraction, size: int) -> Problem:
    """A padded problem when it is known that the cell holds `size` respondents; `probability` is that of an absent place."""
    universe, prior = bucket.universe, bucket.prior
    if not isinstance(universe, Universe) or not isinstance(prior, IidPrior) or prior.probabilities[absent] < probability:
        raise InputError(
            "No padded problem has this prior",
            found=f"a prior of kind {prior.kind}",
            allowed="an iid prior that gives absent places at least their probability",
            remedy="make the family again",
        )
    present = [(p - probability * (t == absent)) / (1 - probability) for t, p in enumerate(prior.probabilities)]
    types = len(present) - (present[-1] == 0 and absent == len(present) - 1)
    inner = Universe.of(size, universe.values[:types])
    vectors = inner.histograms()
    weights = IidPrior(tuple(present[:types])).on_histograms(vectors, inner)
    table = tuple((filled_up(row, universe.respondents, absent), weights[i]) for i, row in enumerate(vectors.tolist()))
    return replace(bucket, prior=ExchangeablePrior(table))


def must_scale(problem: Problem) -> Universe:
    """Refuse problems that say something about one size only."""
    universe = problem.universe
    if (
        isinstance(universe, Universe)
        and universe.fixed
        and isinstance(problem.neighbours, ReplaceOne)
        and isinstance(problem.prior, (IidPrior, ReferencePrior, DirichletMultinomialPrior, MixturePrior))
        and not isinstance(problem.statistic, TableStatistic)
        and not any(isinstance(d.loss, TableLoss) for d in problem.decisions)
    ):
        return universe
    raise InputError(
        "This problem does not carry over to cells of other sizes",
        found=f"prior {problem.prior.kind}, neighbours {problem.neighbours.name}, statistic {problem.statistic.kind}",
        allowed="replace-one neighbours, an iid, reference, Dirichlet-multinomial or mixture prior, a sum, mean or count, "
        "and a decision without a table",
        remedy="write one problem file for each size",
    )


def _rescaled(problem: Problem, universe: Universe, other: Universe) -> tuple[Decision, ...]:
    """Whole-number actions over the statistic's range follow the range; other actions stay."""
    listed = any(isinstance(d.actions, ListedActions) for d in problem.decisions)
    if not listed or not isinstance(problem.statistic, (SumStatistic, CountStatistic, MeanStatistic)):
        return problem.decisions
    before = integer_actions(*linear_range(problem.statistic, universe))
    after = integer_actions(*linear_range(problem.statistic, other))
    return tuple(
        replace(d, actions=after) if isinstance(d.actions, ListedActions) and d.actions == before else d for d in problem.decisions
    )
