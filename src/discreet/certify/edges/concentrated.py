"""Is this mechanism ρ-zCDP? D_α(m(·|h) ‖ m(·|h′)) ≤ ρα for every α > 1, both ways along every edge (Bun & Steinke 2016, Def. 1.1).

A table: an output that is possible on one side of an edge only makes every divergence infinite, which integers decide. Otherwise
the smallest ρ lies in a bracket of floats with counted roundings (`numerics.concentrated`), orders between whole ones included: its
upper side proves, and the edge and order of its lower side refute once they are confirmed in balls. What falls into the bracket,
a part in 10^9 wide, is neither, and is not accepted.

Geometric, staircase and counted noise is proved by the largest factor c = e^ε between neighbours, which gives ρ ≤ ε·tanh(ε/2);
discrete Gaussian noise by its formula (`gaussian`).
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

from discreet.certify.edges.closed_forms import Fall, falls
from discreet.certify.edges.counted import refuted, steepest
from discreet.certify.edges.gaussian import gaussian_privacy
from discreet.certify.edges.pure import must_be_compared_soon, worst_ratio
from discreet.model.certificate import Counterexample, PrivacyProof
from discreet.model.kernel import ClosedKernel, CountedKernel, GaussianKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import ConcentratedPromise
from discreet.numerics.brackets import float_up, log_bracket
from discreet.numerics.concentrated import RhoBracket, Rows, pure_rho_ball, rho_bracket
from discreet.numerics.digits import at_least, at_most
from discreet.numerics.exact import exact, format_exact
from discreet.numerics.moments import log_error
from discreet.numerics.outward import ball, enclosure, power_ball

LOG_BITS = 96
DIGITS = 8
"""Of the smallest ρ that a proof states: another machine's floats differ far behind them. They may also differ in which of several
equally bad edges is the worst, so none is named."""


def concentrated_privacy(mechanism: Mechanism, promise: ConcentratedPromise) -> PrivacyProof | Counterexample:
    """A proof that the mechanism is ρ-zCDP, or the edge and order that break it."""
    match mechanism.kernel:
        case TableKernel() as kernel:
            return _of_table(mechanism, kernel, promise)
        case GaussianKernel() as kernel:
            return gaussian_privacy(mechanism, kernel, promise)
        case ClosedKernel() as kernel:
            proved, _, states = falls(mechanism, kernel)
            return _of_factor(proved, promise, states, kernel.width)
        case CountedKernel() as kernel:
            found = steepest(mechanism, kernel)
            if found.bottom == 0:
                return refuted(found, _allowed(promise))
            return _of_factor(found.fall, promise, found.pairs, kernel.width)


def _of_table(mechanism: Mechanism, kernel: TableKernel, promise: ConcentratedPromise) -> PrivacyProof | Counterexample:
    space, outputs = mechanism.space, len(kernel.outputs)
    must_be_compared_soon(kernel, len(space.edges))
    top, bottom, output, first, second = worst_ratio(kernel.weights, space.edges.tolist()) or (1, 1, 0, 0, 0)
    if bottom == 0:
        label, edge = kernel.outputs[output].label, (space.labels[first], space.labels[second])
        return Counterexample(
            "privacy",
            f"Output {label} is possible at state {edge[0]} and impossible at its neighbour {edge[1]}",
            edge=edge,
            output=label,
            found="an infinite divergence at every order",
            allowed=_allowed(promise),
        )
    if top == bottom:
        return PrivacyProof(promise, Fraction(0), Fraction(0), None, None, len(space.edges), outputs, "moments")
    largest = log_bracket(Fraction(top, bottom), LOG_BITS)[1]
    found = rho_bracket(_rows(mechanism, kernel), float_up(largest))
    upper = min(found.upper, enclosure(lambda: pure_rho_ball(largest))[1])
    if isfinite(upper) and Fraction(upper) <= promise.rho:
        low, high = exact(at_least(Fraction(found.lower), DIGITS)), min(exact(at_most(Fraction(upper), DIGITS)), promise.rho)
        return PrivacyProof(promise, low, high, None, None, len(space.edges), outputs, "moments")
    return _refuted(mechanism, kernel, promise, found) or Counterexample(
        "privacy",
        "The smallest ρ of this mechanism is too close to the promised one to be told apart from it",
        found=f"between {at_least(Fraction(found.lower), 12)} and {at_most(Fraction(upper), 12)}",
        allowed=_allowed(promise),
    )


def _rows(mechanism: Mechanism, kernel: TableKernel) -> Rows:
    logs = mechanism.log_probabilities
    return Rows(mechanism.probabilities, logs, mechanism.space.edges, log_error(logs, kernel.denominator.bit_length()))


def least_quotient(kernel: TableKernel, first: int, second: int, order: Fraction) -> Fraction:
    """A lower side of D_α/α between two states, in balls."""
    here, there = ([row[state] for row in kernel.weights] for state in (first, second))
    return Fraction(enclosure(lambda: power_ball(here, there, kernel.denominator, order).log() / ball((order - 1) * order))[0])


def _refuted(mechanism: Mechanism, kernel: TableKernel, promise: ConcentratedPromise, found: RhoBracket) -> Counterexample | None:
    """The edge and order at which the divergence is too large, confirmed in balls; None when they are not."""
    if found.at is None:
        return None
    first, second = _states(mechanism, found.at[0])
    order = Fraction(found.at[1])
    low = least_quotient(kernel, first, second, order)
    if low <= promise.rho:
        return None
    edge = (mechanism.space.labels[first], mechanism.space.labels[second])
    return Counterexample(
        "privacy",
        f"States {edge[0]} and {edge[1]} can be told apart too well: their divergence of order {float(order):.6g} is too large",
        edge=edge,
        found=f"D_α/α of at least {at_least(low, 12)}",
        allowed=_allowed(promise),
    )


def _states(mechanism: Mechanism, direction: int) -> tuple[int, int]:
    """The states of a directed edge: the edges as listed first, then all of them reversed."""
    edges = mechanism.space.edges
    first, second = edges[direction % len(edges)].tolist()
    return (first, second) if direction < len(edges) else (second, first)


def _of_factor(proved: Fall, promise: ConcentratedPromise, pairs: int, outputs: int) -> PrivacyProof | Counterexample:
    """By the largest factor between neighbours alone."""
    upper = enclosure(lambda: pure_rho_ball(proved.log()[1]))[1]
    if Fraction(upper) <= promise.rho:
        return PrivacyProof(promise, Fraction(0), Fraction(upper), None, None, pairs, outputs, "closed-form")
    return Counterexample(
        "privacy",
        "The noise falls too fast for this ρ to be proved by its formula",
        found=f"ρ of at most {at_most(Fraction(upper), 12)}",
        allowed=_allowed(promise),
    )


def _allowed(promise: ConcentratedPromise) -> str:
    return f"D_α/α of at most {format_exact(promise.rho)} at every order α above 1"
