"""Is this mechanism private? Decided in integers, for every output and every pair of adjacent states.

ε-DP: w(s|h) ≤ e^ε · w(s|h′) for every output s and both directions of every edge h–h′ (SY eq. (1)). The graph is derived
from universe, neighbours and summary. With rationals q⁻ < e^ε < q⁺ a ratio up to q⁻ is proved, one above q⁺ refuted,
and in between more bits are taken, which ends because e^ε is irrational for rational ε ≠ 0.

The tight ε is log of the largest ratio, which is a rational: it is compared exactly, then bracketed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.certify.edges.approximate import approximate, mechanism_table
from discreet.certify.edges.closed_forms import closed_form_privacy
from discreet.files.mechanism import mechanism_hash
from discreet.model.certificate import Certificate, Counterexample, PrivacyProof
from discreet.model.kernel import TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import ApproximatePromise, Promise, PurePromise
from discreet.model.states import StateSpace
from discreet.numerics.brackets import compare_ratio_exp, exp_bracket, log_bracket
from discreet.numerics.exact import format_exact

TIGHT_BITS = 64
"""Relative width of the bracket around the tight ε, in bits."""


def privacy(mechanism: Mechanism) -> Certificate | Counterexample:
    """A certificate that the mechanism keeps its guarantee, or the edge and output that break it."""
    promise, kernel = mechanism.guarantee.promise, mechanism.kernel
    wrong = _stated_edges(kernel, mechanism.space) if isinstance(kernel, TableKernel) else None
    if wrong is not None:
        return wrong
    check = CHECKS.get(type(promise))
    if check is None:
        return Counterexample("privacy", "No promise of this kind can be proved here", found=promise.brief())
    found = check(mechanism, promise)
    return found if isinstance(found, Counterexample) else Certificate(mechanism_hash(mechanism), found)


def pure_privacy(mechanism: Mechanism, promise: PurePromise) -> PrivacyProof | Counterexample:
    """Is every probability within a factor of e^ε of its neighbours'?"""
    if isinstance(mechanism.kernel, TableKernel):
        return _table_privacy(mechanism.kernel, mechanism.space, promise)
    return closed_form_privacy(mechanism, mechanism.kernel, promise)


def approximate_privacy(mechanism: Mechanism, promise: ApproximatePromise) -> PrivacyProof | Counterexample:
    """Is the sum of what e^ε does not cover at most δ on every directed edge?"""
    found = approximate(mechanism_table(mechanism), promise.epsilon, promise.delta)
    if isinstance(found, Counterexample):
        return found
    return PrivacyProof(promise, found.tight_low, found.tight_high, found.edge, None, found.edges, found.outputs)


CHECKS: dict[type[Promise], Callable[[Mechanism, Any], PrivacyProof | Counterexample]] = {
    PurePromise: pure_privacy,
    ApproximatePromise: approximate_privacy,
}
"""The exact check of each kind of promise."""


def _stated_edges(kernel: TableKernel, space: StateSpace) -> Counterexample | None:
    """A file may list edges for its readers; a list that differs from the derived one misleads them."""
    if kernel.stated_edges is None:
        return None
    derived = {(int(a), int(b)) for a, b in space.edges}
    stated = {(min(edge), max(edge)) for edge in kernel.stated_edges}
    wrong = min(derived ^ stated, default=None)
    if wrong is None and len(stated) == len(kernel.stated_edges):
        return None
    if wrong is None:
        return Counterexample("edges", "The file lists an edge twice", found=str(len(kernel.stated_edges)))
    a, b = wrong
    names = (_label(space, a), _label(space, b))
    words = "is missing from the file" if wrong in derived else "is listed in the file but joins no neighbours"
    return Counterexample(
        "edges", f"The edge between states {names[0]} and {names[1]} {words}", edge=names,
        found=f"{len(stated)} edges", allowed=f"{len(derived)} edges",
    )


def _label(space: StateSpace, state: int) -> str:
    return space.labels[state] if 0 <= state < len(space) else f"number {state}"


def _table_privacy(kernel: TableKernel, space: StateSpace, promise: PurePromise) -> PrivacyProof | Counterexample:
    epsilon = promise.epsilon
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
            edge=edge, output=label,
            found="an infinite ratio" if denominator == 0 else _bracket_words(numerator, denominator),
            allowed=f"a log-ratio of at most {format_exact(epsilon)}",
        )
    low_end, high_end = tight_bracket(numerator, denominator, epsilon)
    return PrivacyProof(promise, low_end, high_end, edge, label, len(space.edges), len(kernel.outputs))


def worst_ratio(
    weights: tuple[tuple[int, ...], ...], edges: list[list[int]]
) -> tuple[int, int, int, int, int] | None:
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


def proves_below(numerator: int, denominator: int, epsilon: Fraction, bits: int = 128) -> bool:
    """Whether numerator/denominator ≤ q⁻ < e^ε: a quick sufficient test that needs no refinement."""
    low, _ = exp_bracket(epsilon, bits)
    return numerator * low.denominator <= low.numerator * denominator
