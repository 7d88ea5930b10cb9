"""A certified mechanism as an OpenDP measurement, whose privacy map is the certified promise.

| `on` | input domain and metric | for |
|---|---|---|
| `total` | one whole number, absolute distance | mechanisms that read a weighted sum: after OpenDP's own count or sum |
| `database` | the types of all N respondents, change-one distance | replace-one neighbours, any summary |

The checker proves the promise before anything is made; a mechanism that it refutes is refused. The map of a distance d
is what the promise grows to over as many steps between neighbours as a change of d can take: for `database` d itself;
for `total` the longest way, over pairs of totals at most d apart, in the graph of the summary (⌈d/step⌉ for closed
forms, by their lemma). Rounded up. Pure ε is a map into OpenDP's max divergence, ρ into zero-concentrated divergence,
(ε, δ) into approximate max divergence. Draws are exact, on randomness of the operating system.

Totals beyond the range are clipped to it and types outside 0 … T to the nearest one: neither lets neighbours drift
apart. OpenDP keeps such plug-ins behind its feature `honest-but-curious`, because it cannot check them itself; here
they were checked.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.certify.edges.privacy import privacy
from discreet.errors import InputError, Refuted, TooLarge
from discreet.exchange.peers import OPENDP, peer
from discreet.model.certificate import Counterexample
from discreet.model.kernel import CountedKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.promises import ApproximatePromise, ConcentratedPromise, Promise
from discreet.model.summary import LinearSummary
from discreet.numerics.brackets import float_up, rational_above_exp
from discreet.sampling import sampler_of

FORMS = ("total", "database")
MOST_STATES = 4_000
"""Totals of a table kernel beyond which the ways between them are not counted."""
NEEDED = (
    "atom_domain", "vector_domain", "absolute_distance", "change_one_distance", "max_divergence", "zero_concentrated_divergence",
    "approximate", "enable_features",
)  # fmt: skip
FEATURES = ("contrib", "honest-but-curious")


def to_opendp(mechanism: Mechanism, on: str | None = None) -> Any:
    """The mechanism as a measurement; `on` is "total" (the default for weighted sums) or "database"."""
    dp = peer(OPENDP, "OpenDP measurements", ["prelude"], NEEDED)[0]
    dp.enable_features(*FEATURES)
    plug = Plug(mechanism)
    function: Callable[[Any], str]
    steps: Callable[[int], int]
    if (on or plug.natural) == "total":
        plug.must_read_totals()
        domain, metric = dp.atom_domain(T=int), dp.absolute_distance(T=int)
        function, steps = plug.draw_total, plug.steps_of_total
    elif (on or plug.natural) == "database":
        plug.must_replace()
        universe = plug.universe
        domain = dp.vector_domain(dp.atom_domain(bounds=(0, universe.types - 1), T=int), size=universe.respondents)
        metric = dp.change_one_distance()
        function, steps = plug.draw_database, plug.steps_of_database
    else:
        raise InputError("A measurement reads totals or databases", found=str(on), allowed=FORMS, remedy="choose one of these")
    kind = int if plug.whole else str
    return dp.m.make_user_measurement(
        domain, metric, _measure(dp, plug.promise), lambda x: kind(function(x)), lambda d: _grown(plug.promise, steps(d)), TO=kind
    )


def _measure(dp: Any, promise: Promise) -> Any:
    """OpenDP's measure for a kind of promise."""
    if isinstance(promise, ConcentratedPromise):
        return dp.zero_concentrated_divergence()
    return dp.approximate(dp.max_divergence()) if isinstance(promise, ApproximatePromise) else dp.max_divergence()


def _grown(promise: Promise, steps: int) -> float | tuple[float, float]:
    """What the promise becomes over so many steps, rounded up, as OpenDP writes it."""
    if isinstance(promise, ApproximatePromise):
        ratio = [rational_above_exp(i * promise.epsilon, 64) for i in range(steps)]
        chance = min(promise.delta * sum(ratio, Fraction(0)), Fraction(1))
        return float_up(steps * promise.epsilon), float_up(chance)
    (number,) = promise.over(steps, 1).numbers.values()
    return float_up(number)


class Plug:
    """What a measurement needs of a mechanism: the proved ε, draws, and how many steps a distance can be."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.universe = mechanism.problem.people_for("A measurement reads respondents", "export the table instead")
        proof = privacy(mechanism)
        if isinstance(proof, Counterexample):
            raise Refuted(proof.words, proof)
        self.mechanism = mechanism
        self.promise = mechanism.guarantee.promise
        self.labels = [output.label for output in mechanism.outputs]
        self.whole = all(label.removeprefix("-").isdigit() and label.isascii() for label in self.labels)
        self.sampler = sampler_of(mechanism.kernel)

    @property
    def natural(self) -> str:
        """The form that loses nothing: totals where the summary is a weighted sum."""
        summed = isinstance(self.mechanism.summary, LinearSummary) and not isinstance(self.mechanism.kernel, CountedKernel)
        return "total" if summed else "database"

    def must_read_totals(self) -> None:
        """Refuse, before anything is made of it, a mechanism that no total describes."""
        _ = self.range

    def must_replace(self) -> None:
        """Refuse neighbours other than replace-one for whole databases: their number would be private."""
        if not isinstance(self.mechanism.problem.neighbours, ReplaceOne):
            raise InputError(
                "A measurement on databases protects replacements",
                found=f"{self.mechanism.problem.neighbours.name} neighbours",
                allowed="replace-one, or on = 'total'",
                remedy="use the form 'total' after a count or sum",
            )

    def draw_database(self, types: Any) -> str:
        """One output for a database of N types."""
        held = np.clip(np.asarray(list(types), dtype=np.int64), 0, self.universe.types - 1)
        if len(held) != self.universe.respondents:
            raise InputError(
                "The measurement reads databases of one size",
                found=f"{len(held)} records",
                allowed=f"{self.universe.respondents}",
                remedy="resize the data in the chain before it",
            )
        if self.mechanism.summary.ordered:
            return self._draw(self.mechanism.states_of(held[None, :]))
        return self._draw(self.mechanism.places_of(self.universe.histograms_of(held[None, :])))

    def draw_total(self, total: Any) -> str:
        """One output for a total, clipped to the range."""
        low, high = self.range
        held = min(max(int(total), low), high)
        return self._draw(np.array([self.places[held] if self.mechanism.kernel.by_state else held]))

    def _draw(self, states: np.ndarray) -> str:
        return self.labels[int(self.sampler.draw(states)[0])]

    @cached_property
    def places(self) -> dict[int, int]:
        """The position of each total among the states."""
        return {int(total): place for place, total in enumerate(self.mechanism.space.vectors[:, 0].tolist())}

    def steps_of_database(self, distance: int) -> int:
        """Replacements are steps."""
        return int(distance)

    def steps_of_total(self, distance: int) -> int:
        """The most steps between neighbours that two totals at most `distance` apart can be away from each other."""
        low, high = self.range
        apart = min(int(distance), high - low)
        if self.mechanism.kernel.by_state:
            return self.longest_ways[apart]
        return -(-apart // max(self.mechanism.weighted_sum.step(self.mechanism.problem.neighbours), 1))

    @cached_property
    def range(self) -> tuple[int, int]:
        """Lowest and highest total; every whole number between must be a state."""
        summary = self.mechanism.summary
        if not isinstance(summary, LinearSummary):
            raise InputError(
                "This mechanism does not read one total",
                found=f"summary {summary.kind!r}",
                allowed="'linear', or on = 'database'",
                remedy="use the form 'database'",
            )
        low, high = summary.range(self.universe)
        kernel = self.mechanism.kernel
        if isinstance(kernel, CountedKernel):  # totals near each other may be many neighbours apart
            raise InputError(
                "This mechanism reads a count beside a sum, and one number does not say how far two of them are apart",
                found="a counted kernel",
                allowed="on = 'database'",
                remedy="use the form 'database'",
            )
        if kernel.by_state and kernel.state_count != high - low + 1:
            raise InputError(
                "Some whole numbers between the totals cannot occur, so OpenDP's integers do not fit",
                found=f"{kernel.state_count} totals from {low} to {high}",
                allowed="every whole number",
                remedy="use the form 'database', or weights without a common divisor",
            )
        return low, high

    @cached_property
    def longest_ways(self) -> list[int]:
        """For each distance between totals: the longest of the shortest ways in the graph between two at most that far apart."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path

        edges, n = np.asarray(self.mechanism.space.edges), len(self.mechanism.space)
        if n > MOST_STATES:
            raise TooLarge(
                "This kernel has too many totals to count the steps between them",
                size=f"{n:,} totals",
                fits=f"{MOST_STATES:,}",
                remedy="use a closed form",
            )
        links = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
        ways = shortest_path(links, directed=False, unweighted=True)
        values = self.mechanism.space.vectors[:, 0]
        apart = np.abs(values[:, None] - values[None, :])
        longest = [float(ways[apart <= d].max()) for d in range(int(apart.max()) + 1)]
        if not np.isfinite(longest).all():
            raise InputError(
                "Some totals are no chain of neighbours apart",
                found="a graph in several parts",
                allowed="a connected graph",
                remedy="use the form 'database'",
            )
        return [int(way) for way in longest]
