"""Is this table ε-private? Decided in integers, for every output and every pair of adjacent states.

ε-DP: w(s|h) ≤ e^ε · w(s|h′) for every output s and both directions of every edge h–h′ (SY eq. (1)). With rationals
q⁻ < e^ε < q⁺ a ratio up to q⁻ is proved, one above q⁺ refuted, and in between more bits are taken, which ends because e^ε is
irrational for rational ε ≠ 0. The tight ε is log of the largest ratio, which is a rational: it is compared exactly, then bracketed.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.certify.edges.closed_forms import closed_form_privacy
from discreet.certify.edges.counted import counted_privacy
from discreet.certify.edges.gaussian import only_concentrated
from discreet.errors import TooLarge
from discreet.model.certificate import Counterexample, PrivacyProof
from discreet.model.kernel import ClosedKernel, CountedKernel, GaussianKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import PurePromise
from discreet.model.states import StateSpace
from discreet.model.together import ask
from discreet.numerics.brackets import compare_ratio_exp, log_bracket
from discreet.numerics.exact import format_exact

TIGHT_BITS = 64
"""Relative width of the bracket around the tight ε, in bits."""
LONG, MOST_COMPARED = 512, 20_000_000
"""Binary digits from which on comparisons take the square of them; comparisons, four at this length counted as one."""


def pure_privacy(mechanism: Mechanism, promise: PurePromise) -> PrivacyProof | Counterexample:
    """Is every probability within a factor of e^ε of its neighbours'?"""
    match mechanism.kernel:
        case TableKernel() as kernel:
            return _table_privacy(kernel, mechanism.space, promise)
        case GaussianKernel():
            return only_concentrated(promise)
        case ClosedKernel() as kernel:
            return closed_form_privacy(mechanism, kernel, promise)
        case CountedKernel() as kernel:
            return counted_privacy(mechanism, kernel, promise)


def _table_privacy(kernel: TableKernel, space: StateSpace, promise: PurePromise) -> PrivacyProof | Counterexample:
    epsilon = promise.epsilon
    must_be_compared_soon(kernel, len(space.edges))
    worst = worst_ratio(kernel.weights, space.edges.tolist())
    if worst is None:
        return PrivacyProof(promise, Fraction(0), Fraction(0), None, None, len(space.edges), len(kernel.outputs))
    numerator, denominator, output, high, low = worst
    edge = (space.labels[high], space.labels[low])
    label = kernel.outputs[output].label
    if compare_ratio_exp(numerator, denominator, epsilon) > 0:
        return Counterexample(
            "privacy",
            f"Output {label} is too much likelier at state {edge[0]} than at its neighbour {edge[1]}",
            edge=edge,
            output=label,
            found="an infinite ratio" if denominator == 0 else _bracket_words(numerator, denominator),
            allowed=f"a log-ratio of at most {format_exact(epsilon)}",
        )
    low_end, high_end = tight_bracket(numerator, denominator, epsilon)
    return PrivacyProof(promise, low_end, high_end, edge, label, len(space.edges), len(kernel.outputs))


def must_be_compared_soon(kernel: TableKernel, edges: int) -> None:
    """Refuse a table of long numbers on many edges: work grows with the squares of the states and digits that a file has."""
    digits = kernel.denominator.bit_length()
    work = edges * len(kernel.outputs) * (digits // LONG) ** 2 // 4
    if work > MOST_COMPARED:
        raise TooLarge(
            "The probabilities of this table are too long to be compared on every edge",
            size=f"{len(kernel.outputs):,} probabilities of {digits:,} binary digits on each of {edges:,} edges",
            fits=f"{MOST_COMPARED:,} comparisons of about a thousand binary digits",
            remedy="use shorter numbers",
        )
    ask(work, MOST_COMPARED)


def worst_ratio(weights: tuple[tuple[int, ...], ...], edges: list[list[int]]) -> tuple[int, int, int, int, int] | None:
    """The largest w(s|h)/w(s|h′) over outputs s and edges, as (numerator, denominator, s, h, h′); None without edges.

    Ratios are compared by cross-multiplication, so the answer is exact. An output impossible at both ends says nothing.
    """
    best_top, best_bottom, where = 0, 1, None
    for output, row in enumerate(weights):
        for a, b in edges:
            x, y = row[a], row[b]
            top, bottom, high, low = (x, y, a, b) if x >= y else (y, x, b, a)
            if top * best_bottom > best_top * bottom:
                best_top, best_bottom, where = top, bottom, (output, high, low)
    return None if where is None else (best_top, best_bottom, *where)


def tight_bracket(numerator: int, denominator: int, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Both sides of log(numerator/denominator), the upper one never above a proved ε."""
    if numerator == denominator:
        return Fraction(0), Fraction(0)
    low, high = log_bracket(Fraction(numerator, denominator), TIGHT_BITS)
    return max(low, Fraction(0)), min(high, epsilon)


def _bracket_words(numerator: int, denominator: int) -> str:
    low, high = log_bracket(Fraction(numerator, denominator), TIGHT_BITS)
    return f"a log-ratio between {float(low):.15g} and {float(high):.15g}"
