"""Reductions: smaller problems with the same optimum, each with its theorem, whose conditions are checked here.

`merged-count`    a count under identical independent respondents depends on each respondent only through "counted or
                  not"; given that, the rest of a type is independent of everything and may be ignored: T = 1.
`anonymous-pair`  T = 1, N = 2: a mechanism may read only the sum, whatever the prior (SY Prop. 4).

A reduction maps a problem to a reduced one, together with the linear summary that carries a mechanism for the reduced
problem back to the original. `why_not` answers in words when the conditions fail.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.errors import Refuted
from discreet.frozen import dataclass
from discreet.model.kernel import TableKernel
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import ExchangeablePrior, IidPrior, IndependentPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.statistic import CountStatistic
from discreet.model.summary import HistogramSummary, LinearSummary, Summary
from discreet.model.universe import Universe


@dataclass(frozen=True)
class Reduced:
    """The reduced problem and how the original's databases are read."""

    name: str
    theorem: str
    problem: Problem
    summary: LinearSummary

    @property
    def pair(self) -> tuple[int, int]:
        """The weights of the reduced problem's two types: a count, or where sizes vary S = n_0 + (largest + 1)·n_1, both counts."""
        return (0, 1) if self.problem.people.fixed else (1, self.problem.people.largest + 1)

    def carried(self, summary: Summary) -> LinearSummary:
        """A summary of the reduced problem's two types as a weighted sum on the original's databases."""
        weights = self.summary.weights
        if isinstance(summary, LinearSummary):
            return LinearSummary(weights, summary.low, summary.high)
        clamp = summary.clamp if isinstance(summary, HistogramSummary) else None
        if clamp is None or not self.problem.people.fixed:  # both counts are read, `counted` writes out what caps join
            return LinearSummary(weights)
        n = self.problem.people.respondents
        least, most = clamp.room(n)
        clipped = 1 - (clamp.reference or 0)
        low, high = max(clamp.lower[clipped], least), min(clamp.upper[clipped], most)
        return LinearSummary(weights, low, high) if clipped == 1 else LinearSummary(weights, n - high, n - low)

    def counted(self, kernel: TableKernel, summary: Summary) -> TableKernel:
        """A kernel on histograms of two types as a kernel on the count of the second, or on both."""
        read = [tuple(map(int, label.split(","))) for label in kernel.states]
        column = {histogram: i for i, histogram in enumerate(read)}
        if isinstance(summary, HistogramSummary) and not self.problem.people.fixed:
            read = [tuple(h) for h in self.problem.people.histograms().tolist()]
            column = {h: column[summary.of_histogram(h)] for h in read}
        counts = {sum(w * c for w, c in zip(self.pair, h, strict=True)): column[h] for h in read}
        order = sorted(counts)
        rows = tuple(tuple(row[counts[s]] for s in order) for row in kernel.weights)
        return TableKernel(tuple(map(str, order)), kernel.outputs, rows, kernel.denominator)


@dataclass(frozen=True)
class NotReduced:
    """Why a reduction does not apply."""

    name: str
    reason: str


def merged_count(problem: Problem) -> Reduced | NotReduced:
    """A count of types under identical independent respondents, as a problem with two types."""
    name = "merged-count"
    if not isinstance(problem.statistic, CountStatistic) or not isinstance(problem.universe, Universe):
        return NotReduced(name, "the statistic is not a count")
    if problem.universe.types == 2:
        return NotReduced(name, "there are only two types already")
    probabilities = _identical_probabilities(problem)
    if probabilities is None:
        return NotReduced(name, "respondents are not independent with the same probabilities")
    counted = sum((probabilities[t] for t in problem.statistic.of), Fraction(0))
    universe = replace(problem.universe, values=(Fraction(0), Fraction(1)))
    prior = IidPrior((1 - counted, counted), getattr(problem.prior, "size", None))
    merged = replace(problem, universe=universe, prior=prior, statistic=CountStatistic((1,)))
    both = (0, 1) if universe.fixed else (1, universe.largest + 1)
    weights = tuple(both[t in problem.statistic.of] for t in range(problem.universe.types))
    return Reduced(name, "a count under independent respondents", merged, LinearSummary(weights))


def anonymous_pair(problem: Problem) -> Reduced | NotReduced:
    """Two respondents of two types under any prior, as an exchangeable problem."""
    name = "anonymous-pair"
    universe = problem.universe
    if not isinstance(universe, Universe) or universe.types != 2 or not universe.fixed or universe.largest != 2:
        return NotReduced(name, "there are not exactly two respondents of two types")
    if not isinstance(problem.neighbours, ReplaceOne):
        return NotReduced(name, "neighbours do not replace one respondent")
    if problem.statistic.weights(universe) is None:
        return NotReduced(name, "the statistic is not a sum or a count")
    if problem.exchangeable:
        return NotReduced(name, "the prior is exchangeable already")
    vectors = universe.histograms()
    law = problem.prior.on_histograms(vectors, universe)
    table = tuple((tuple(h), law[i]) for i, h in enumerate(vectors.tolist()))
    return Reduced(name, "SY Prop. 4", replace(problem, prior=ExchangeablePrior(table)), LinearSummary((0, 1)))


REDUCTIONS = {"merged-count": merged_count, "anonymous-pair": anonymous_pair}


def reduced(problem: Problem, name: str) -> Reduced:
    """The named reduction, or a refutation when its conditions do not hold."""
    if name not in REDUCTIONS:
        raise Refuted("the certificate names a reduction that does not exist", name)
    found = REDUCTIONS[name](problem)
    if isinstance(found, NotReduced):
        raise Refuted(f"the reduction {name} does not apply", found.reason)
    return found


def _identical_probabilities(problem: Problem) -> tuple[Fraction, ...] | None:
    prior = problem.prior
    if isinstance(prior, (IidPrior, ReferencePrior)):
        return prior.probabilities
    if isinstance(prior, IndependentPrior) and prior.identical:
        return prior.rows[0]
    return None
