"""Audit: a lower bound on ε from what was published, without trusting engine, sampler or proof.

For neighbouring databases x, y and any set S of outputs an ε-private publication has P_x(S) ≤ e^ε P_y(S). From repeated
publications of both, Clopper & Pearson (1934) bound P_x(S) from below and P_y(S) from above, each wrongly with probability at
most α/2, so that

    ε ≥ ln(low_x / high_y)      unless an event of probability α happened.

S is chosen on the first half of the repetitions (the likeliest outputs by ratio) and tested on the second half, so the choice
costs nothing. Many cells with the same histogram count as repetitions, since cells are drawn independently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import inf, log

from discreet.errors import InputError


@dataclass(frozen=True)
class Audit:
    """ε is at least `lower_bound`, wrongly so with probability at most `false_alarm`."""

    lower_bound: float
    event: frozenset[Hashable]
    likelier: str
    runs: int
    false_alarm: float

    def refutes(self, epsilon: float) -> bool:
        """Whether a promise of ε cannot be kept, up to the false-alarm probability."""
        return self.lower_bound > epsilon


def audit(first: Sequence[Hashable], second: Sequence[Hashable], *, false_alarm: float = 1e-6) -> Audit:
    """The largest ε that the outputs of repeated publications of two neighbouring databases prove necessary.

    `first` and `second` hold one output for each repetition, in the order in which they were published.
    """
    if min(len(first), len(second)) < 4 or not 0 < false_alarm < 1:
        raise InputError(
            "An audit compares repeated publications of two databases",
            found=f"{len(first)} and {len(second)} outputs, false alarm {false_alarm}",
            allowed="at least 4 outputs of each, a probability between 0 and 1",
            remedy="publish more often",
        )
    runs = min(len(first), len(second)) // 2
    x, y = Counter(first[:runs]), Counter(second[:runs])
    forward, backward = _event(x, y, runs, false_alarm), _event(y, x, runs, false_alarm)
    towards_first = forward[0] >= backward[0]
    event = forward[1] if towards_first else backward[1]
    in_first = sum(output in event for output in first[runs : 2 * runs])
    in_second = sum(output in event for output in second[runs : 2 * runs])
    often, seldom = (in_first, in_second) if towards_first else (in_second, in_first)
    found = log_ratio_bound(often, seldom, runs, false_alarm)
    return Audit(max(found, 0.0), event, "first" if towards_first else "second", runs, false_alarm)


def log_ratio_bound(often: int, seldom: int, runs: int, false_alarm: float) -> float:
    """ln(low/high) of Clopper-Pearson bounds on the probabilities of an event seen `often` and `seldom` times in `runs`."""
    from scipy.stats import beta

    if often == 0:
        return -inf
    low = float(beta.ppf(false_alarm / 2, often, runs - often + 1))
    high = 1.0 if seldom == runs else float(beta.isf(false_alarm / 2, seldom + 1, runs - seldom))
    return log(low) - log(high) if low > 0 else -inf


def _event(
    likely: Counter[Hashable], unlikely: Counter[Hashable], runs: int, false_alarm: float
) -> tuple[float, frozenset[Hashable]]:
    """The set of outputs, taken by falling ratio, whose bound is best on these repetitions."""
    outputs = sorted(likely, key=lambda o: ((likely[o] + 0.5) / (unlikely[o] + 0.5), likely[o]), reverse=True)
    best: tuple[float, frozenset[Hashable]] = (-inf, frozenset())
    often = seldom = 0
    for i, output in enumerate(outputs, start=1):
        often, seldom = often + likely[output], seldom + unlikely[output]
        bound = log_ratio_bound(often, seldom, runs, false_alarm)
        if bound > best[0]:
            best = (bound, frozenset(outputs[:i]))
    return best
