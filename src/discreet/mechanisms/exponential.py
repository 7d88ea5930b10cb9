"""The exponential mechanism: an output is likelier the better it scores.

    P(output y | state x) = e^(ε·score(y, x)/2Δ) / Σ_z e^(ε·score(z, x)/2Δ),

Δ being the most that any output's score moves between adjacent states. It is ε-DP: the numerator moves by at most
e^(ε/2), and the sum by at most e^(ε/2) as well. Where all scores move in the same direction between two states
(`one_sided`), the sum moves with the numerator and the factor 2 is not needed.

Reference: McSherry & Talwar (2007), "Mechanism design via differential privacy", Thm 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.mechanisms.parameters import Pure, non_negative
from discreet.mechanisms.tables import exponential_probabilities, must_be_private, rounded_table, within
from discreet.model.kernel import Output, TableKernel
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import exact
from discreet.numerics.logspace import log_sum_exp

Score = Fraction | None


@dataclass(frozen=True)
class Exponential(Pure):
    """Scores [output][state] and the pairs of adjacent states; a score of None excludes the output at that state.

    The sensitivity is measured from scores and edges and never believed.
    """

    epsilon: Fraction
    scores: tuple[tuple[Score, ...], ...]
    edges: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", non_negative(self.epsilon, "epsilon"))
        rows = tuple(tuple(None if s is None else exact(s, "score") for s in row) for row in self.scores)
        object.__setattr__(self, "scores", rows)
        object.__setattr__(self, "edges", tuple((int(a), int(b)) for a, b in self.edges))
        if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
            raise InputError(
                "scores must be a full table",
                found=f"{len(rows)} rows of {sorted({len(row) for row in rows})} entries",
                allowed="one row for each output, one score for each state",
                remedy="Complete the table of scores.",
            )
        if any(not 0 <= end < len(rows[0]) for edge in self.edges for end in edge):
            raise InputError(
                "an edge names a state that has no scores",
                found="a state number outside the table",
                allowed=f"0 to {len(rows[0]) - 1}",
                remedy="Number the states by the columns of the scores.",
            )
        score_moves(rows, self.edges)

    @property
    def sensitivity(self) -> Fraction:
        """The most that an output's score moves between adjacent states."""
        return max(
            (abs(move) for moves in score_moves(self.scores, self.edges) for move in moves),
            default=Fraction(0),
        )

    @property
    def one_sided(self) -> bool:
        """Whether between any two adjacent states no two outputs' scores move in opposite directions."""
        return all(min(moves) >= 0 or max(moves) <= 0 for moves in score_moves(self.scores, self.edges))

    def exponents(self, epsilon: Fraction | None = None) -> tuple[tuple[Score, ...], ...]:
        """The exact exponents [output][state]: ε·score/2Δ, or ε·score/Δ when the scores are one-sided."""
        at = self.epsilon if epsilon is None else epsilon
        reach = self.sensitivity * (1 if self.one_sided else 2)
        rate = at / reach if reach else Fraction(0)
        return tuple(tuple(None if s is None else s * rate for s in row) for row in self.scores)

    def log_pmf(self) -> Floats:
        """Log probabilities [output, state]."""
        rows = [[-np.inf if x is None else float(x) for x in row] for row in self.exponents()]
        logs = np.array(rows, dtype=np.float64)
        return np.asarray(logs - log_sum_exp(logs, axis=0))

    def pmf(self) -> Floats:
        """Probabilities [output, state]."""
        return np.exp(self.log_pmf())

    def table(self, states: Sequence[str], outputs: Sequence[Output]) -> TableKernel:
        """Integer weights over a power of two, checked on every edge."""
        if len(states) != len(self.scores[0]) or len(outputs) != len(self.scores):
            raise InputError(
                "labels do not fit the scores",
                found=f"{len(outputs)} outputs and {len(states)} states",
                allowed=f"{len(self.scores)} outputs and {len(self.scores[0])} states",
                remedy="Name every row and every column once.",
            )
        probabilities = exponential_probabilities(self.exponents(within(self.epsilon)))
        kernel = rounded_table(states, outputs, probabilities, self.epsilon)
        return must_be_private(kernel, self.edges, self.epsilon)


def score_moves(scores: Sequence[Sequence[Score]], edges: Iterable[tuple[int, int]]) -> list[list[Fraction]]:
    """For each edge, by how much each output's score moves; refuses an output possible at one end only."""
    found = []
    for first, second in edges:
        moves = []
        for row in scores:
            a, b = row[first], row[second]
            if (a is None) != (b is None):
                raise InputError(
                    "an output is excluded at one of two adjacent states",
                    found="a missing score beside a number",
                    allowed="scores at both states, or at neither",
                    remedy="Give the output a low score instead of none.",
                )
            if a is not None and b is not None:
                moves.append(a - b)
        found.append(moves or [Fraction(0)])
    return found
