"""Symmetrisation: from any mechanism to one that does not look at the order of respondents.

    m̄(s|θ) = average of m(s|ρθ) over all permutations ρ = average of m(s|·) over databases with θ's histogram.

It is as private as m (an average of private mechanisms), and if the prior is exchangeable it induces the same joint
law of output and statistic: SY Prop. 5, whose proof is not printed; this average is one. The result is a channel on
histograms, exact, since averaging over orderings leaves the dyadic numbers of a mechanism file.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.geometry.channel import Channel, channel_of
from discreet.geometry.of_problem import stated
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors.table import types_of
from discreet.model.states import state_space
from discreet.model.summary import HistogramSummary
from discreet.model.universe import Universe


def symmetrise(mechanism: Mechanism) -> Channel:
    """The permutation-invariant channel on histograms; refuses a problem in which order matters."""
    problem = mechanism.problem
    if not isinstance(problem.universe, Universe) or not isinstance(problem.neighbours, ReplaceOne):
        raise InputError(
            "Respondents can be permuted only where there is a fixed number of them",
            found=f"neighbours {problem.neighbours.name!r}",
            allowed="replace-one",
            remedy="use such a problem",
        )
    if not problem.exchangeable:
        raise InputError(
            "Symmetrising loses nothing only when respondents are exchangeable and the statistic ignores their order",
            found=f"prior {problem.prior.kind!r}, statistic {problem.statistic.kind!r}",
            allowed="an exchangeable prior",
            remedy="keep the mechanism as it is",
        )
    return symmetrised(channel_of(mechanism, stated(problem, "databases")), problem.universe)


def symmetrised(channel: Channel, universe: Universe) -> Channel:
    """A channel on databases, averaged over those with the same histogram."""
    histograms = state_space(universe, ReplaceOne(), HistogramSummary())
    place = [histograms.index[",".join(map(str, universe.histogram_of(types_of(label))))] for label in channel.states]
    counts = [place.count(h) for h in range(len(histograms))]
    rows = []
    for row in channel.rows:
        sums = [Fraction(0)] * len(histograms)
        for h, p in zip(place, row, strict=True):
            sums[h] += p
        rows.append(tuple(s / c for s, c in zip(sums, counts, strict=True)))
    return Channel(histograms.labels, channel.outputs, tuple(rows))
