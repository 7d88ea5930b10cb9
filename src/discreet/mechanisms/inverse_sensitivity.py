"""The inverse sensitivity mechanism: a value is likelier the fewer respondents would have to change to make it true.

    P(output t | state x) proportional to e^(−ε·len(x; t)/2),   len(x; t) = min{ d(x, x′) : ω(x′) = t },

the distance in the neighbour graph from x to the nearest state where the statistic equals t. Distances move by at most
one between adjacent states, so this is the exponential mechanism with scores −len of sensitivity one: ε-DP.

Reference: Asi & Duchi (2020), "Near instance-optimality in differential privacy", section 2 (discrete outputs).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.mechanisms.exponential import Exponential, Score
from discreet.mechanisms.parameters import Pure, non_negative
from discreet.model.kernel import Output, TableKernel
from discreet.model.states import StateSpace
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import exact, format_exact


@dataclass(frozen=True, eq=False)
class InverseSensitivity(Pure):
    """The mechanism for a statistic whose value at each state of a space is listed in `values`."""

    epsilon: Fraction
    space: StateSpace
    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", non_negative(self.epsilon, "epsilon"))
        object.__setattr__(self, "values", tuple(exact(value, "value") for value in self.values))
        if len(self.values) != len(self.space):
            raise InputError(
                "the statistic needs one value for each state",
                found=f"{len(self.values)} values",
                allowed=f"{len(self.space)} values",
                remedy="List the statistic's value state by state.",
            )

    @property
    def outputs(self) -> tuple[Fraction, ...]:
        """The values of the statistic, ascending: what is published."""
        return tuple(sorted(set(self.values)))

    def lengths(self) -> list[list[int | None]]:
        """len(x; t) [output][state]; None where no path leads to the value."""
        return [self._steps_to(value) for value in self.outputs]

    def exponential(self) -> Exponential:
        """The exponential mechanism that this is."""
        scores: list[tuple[Score, ...]] = [
            tuple(None if length is None else Fraction(-length) for length in row) for row in self.lengths()
        ]
        edges = tuple((int(a), int(b)) for a, b in self.space.edges)
        return Exponential(self.epsilon, tuple(scores), edges)

    def pmf(self) -> Floats:
        """Probabilities [output, state]."""
        return self.exponential().pmf()

    def table(self) -> TableKernel:
        """Integer weights over a power of two; each output recommends the value that it names."""
        outputs = [Output(format_exact(value), value) for value in self.outputs]
        return self.exponential().table(self.space.labels, outputs)

    def _steps_to(self, value: Fraction) -> list[int | None]:
        """Steps from every state to the nearest one with this value, breadth first from all of those at once."""
        steps: list[int | None] = [0 if found == value else None for found in self.values]
        queue = deque(state for state, step in enumerate(steps) if step == 0)
        while queue:
            here = queue.popleft()
            for there in self.space.around[here]:
                if steps[there] is None:
                    steps[there] = (steps[here] or 0) + 1
                    queue.append(there)
        return steps
