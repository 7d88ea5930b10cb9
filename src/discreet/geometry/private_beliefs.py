"""Private beliefs: the posteriors that ε-differential privacy allows, a polytope inside the simplex.

    K = { π in Δ : π(i)/π0(i) ≤ e^ε · π(j)/π0(j) for all adjacent i, j }

One class serves K(ε,π0) on databases or histograms and K_Ω(ε,μ0) on values of the statistic: only states, prior and
graph differ. Whether a rational belief lies in K is decided exactly, and where it does not, the worst pair is shown.
References: SY eq. (4) and (7), Lemma 5, Corollary 3. (In print Lemma 5 counts 2^{N(T+1)} databases; it is (T+1)^N.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.geometry.beliefs import Belief, belief, full_support
from discreet.model.priors.weights import log_ratio
from discreet.numerics.brackets import compare_ratio_exp, exp_bracket

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Violation:
    """An adjacent pair whose odds a belief moves by more than ε: log shift = log(π(i)/π(j)) − log(π0(i)/π0(j))."""

    state: str
    other: str
    log_shift: float
    epsilon: Fraction


@dataclass(frozen=True)
class HalfSpace:
    """e^ε·weight_other·π(other) − weight_state·π(state) ≥ 0: one directed privacy bound, linear in π."""

    state: int
    other: int
    weight_state: Fraction
    weight_other: Fraction

    def slack(self, probabilities: Sequence[Fraction], ratio: Fraction) -> Fraction:
        """The left side with e^ε replaced by a rational `ratio`."""
        return ratio * self.weight_other * probabilities[self.other] - self.weight_state * probabilities[self.state]


@dataclass(frozen=True)
class PrivateBeliefs:
    """States, their prior and graph, and ε; what it holds are beliefs about the states."""

    labels: tuple[str, ...]
    prior: Belief
    edges: tuple[tuple[int, int], ...]
    epsilon: Fraction
    name: str = "K"

    def __post_init__(self) -> None:
        belief(self.prior, len(self.labels), "the prior")
        full_support(self.prior, self.labels)
        if self.epsilon < 0:
            raise InputError("ε cannot be negative", found=str(self.epsilon), allowed="0 or more", remedy="correct ε")
        n = len(self.labels)
        wrong = [edge for edge in self.edges if edge[0] == edge[1] or not all(0 <= end < n for end in edge)]
        if wrong:
            raise InputError(
                "An edge joins states that do not exist, or a state to itself",
                found=str(wrong[0]),
                allowed=f"pairs of different numbers from 0 to {n - 1}",
                remedy="correct the edges",
            )

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def around(self) -> list[list[int]]:
        """The adjacent states of each state."""
        around: list[list[int]] = [[] for _ in self.labels]
        for i, j in self.edges:
            around[i].append(j)
            around[j].append(i)
        return around

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The connected components of the graph, each in breadth-first order."""
        seen: set[int] = set()
        found = []
        for start in range(len(self)):
            if start in seen:
                continue
            order, place = [start], 0
            seen.add(start)
            while place < len(order):
                for there in self.around[order[place]]:
                    if there not in seen:
                        seen.add(there)
                        order.append(there)
                place += 1
            found.append(tuple(order))
        return tuple(found)

    def half_spaces(self) -> Iterator[HalfSpace]:
        """Every directed privacy bound; with Σπ = 1 (and π ≥ 0 at isolated states) they describe the polytope."""
        for i, j in self.edges:
            yield HalfSpace(i, j, self.prior[j], self.prior[i])
            yield HalfSpace(j, i, self.prior[i], self.prior[j])

    def violation(self, probabilities: Sequence[object]) -> Violation | None:
        """None for a private belief, else the pair whose odds move furthest beyond ε. Decided exactly."""
        worst: tuple[float, int, int] | None = None
        for i, j, rise, fall in self._odds(belief(probabilities, len(self))):
            if rise == 0 and fall == 0:
                continue
            if compare_ratio_exp(rise, fall, self.epsilon) > 0:
                shift = log_ratio(rise, fall) if fall else float("inf")
                if worst is None or shift > worst[0]:
                    worst = (float(shift), i, j)
        if worst is None:
            return None
        return Violation(self.labels[worst[1]], self.labels[worst[2]], worst[0], self.epsilon)

    def contains(self, probabilities: Sequence[object]) -> bool:
        """Whether the belief is private."""
        return self.violation(probabilities) is None

    def in_relative_interior(self, probabilities: Sequence[object]) -> bool:
        """Whether every state is possible and no privacy bound is attained (SY Lemma 5 and Corollary 3).

        At ε = 0 a connected graph leaves the prior alone, which is its own relative interior.
        """
        found = belief(probabilities, len(self))
        if self.epsilon == 0:
            return self.contains(found) and min(found) > 0
        return min(found) > 0 and all(compare_ratio_exp(rise, fall, self.epsilon) < 0 for _, _, rise, fall in self._odds(found))

    def log_shifts(self, probabilities: Sequence[Fraction]) -> list[float]:
        """log(π(i)/π(j)) − log(π0(i)/π0(j)) for each edge (i, j) in order; nan where both are impossible."""
        found = belief(probabilities, len(self))
        shifts = []
        for i, j in self.edges:
            rise, fall = _cross(found[i] * self.prior[j], found[j] * self.prior[i])
            both = rise == 0 and fall == 0
            shifts.append(float("nan") if both else float("inf") if fall == 0 else float(log_ratio(rise, fall)))
        return shifts

    def binding(self, probabilities: Sequence[Fraction], tolerance: float = 1e-9) -> list[tuple[int, int]]:
        """Edges whose bound is attained to within `tolerance` in log terms (no rational attains e^ε itself)."""
        shifts = self.log_shifts(probabilities)
        reach = float(self.epsilon) - tolerance
        return [edge for edge, shift in zip(self.edges, shifts, strict=True) if abs(shift) >= reach]

    def bounds_matrix(self, ratio: float) -> np.ndarray:
        """Rows [directed bound, state] of A in A π ≥ 0, scaled so that the entry at `state` is −1."""
        import numpy as np

        rows = np.zeros((2 * len(self.edges), len(self)))
        for r, half in enumerate(self.half_spaces()):
            rows[r, half.state] = -1.0
            rows[r, half.other] = ratio * float(half.weight_other / half.weight_state)
        return rows

    def ratio_bracket(self, bits: int = 96) -> tuple[Fraction, Fraction]:
        """Rationals q⁻ ≤ e^ε ≤ q⁺: K(log q⁻) ⊆ K(ε) ⊆ K(log q⁺)."""
        return exp_bracket(self.epsilon, bits)

    def _odds(self, found: Belief) -> Iterator[tuple[int, int, int, int]]:
        """(i, j, rise, fall) for both directions of each edge, rise/fall = (π(i)/π(j)) / (π0(i)/π0(j))."""
        for i, j in self.edges:
            rise, fall = _cross(found[i] * self.prior[j], found[j] * self.prior[i])
            yield i, j, rise, fall
            yield j, i, fall, rise


def _cross(top: Fraction, bottom: Fraction) -> tuple[int, int]:
    return top.numerator * bottom.denominator, bottom.numerator * top.denominator
