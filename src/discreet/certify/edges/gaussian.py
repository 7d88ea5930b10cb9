"""Discrete Gaussian noise keeps ρ = Δ²/2σ² between totals at most Δ apart: one comparison of rationals.

Lemma (Canonne, Kamath & Steinke 2020, Prop. 5). For noise f(j) ∝ e^(−j²/2σ²) on the integers and a whole shift d,

    D_α(f ‖ f(· − d)) = αd²/2σ² + log(Σ_k e^(−(k−αd)²/2σ²) / Σ_k e^(−k²/2σ²))/(α−1) ≤ αd²/2σ²,

since Σ_k e^(−(k−x)²/2σ²) is largest at x = 0; it is attained whenever αd is a whole number, α = 2 for one. So ρ is exactly
Δ²/2σ² of the noise itself. Clipping the noisy total to low..high, and the total before it, are post-processing and a smaller shift.

A smaller σ² is refuted by that shift: noise added to totals Δ apart has a divergence of order 2 above 2ρ.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.certify.edges.closed_forms import real_pairs
from discreet.errors import Refuted
from discreet.model.certificate import Counterexample, PrivacyProof
from discreet.model.kernel import GaussianKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import ConcentratedPromise, Promise
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.exact import brief, format_exact


def gaussian_privacy(mechanism: Mechanism, kernel: GaussianKernel, promise: ConcentratedPromise) -> PrivacyProof | Counterexample:
    """Is Δ²/2σ² at most ρ, for the largest step Δ between the totals of neighbours?"""
    summary, universe, neighbours = mechanism.summary, mechanism.problem.universe, mechanism.problem.neighbours
    if not isinstance(summary, LinearSummary) or not isinstance(universe, Universe):
        raise Refuted("a discrete Gaussian kernel reads a weighted sum", f"summary {summary.kind!r}")
    low, high = summary.range(universe)
    moved = min(summary.step(neighbours), high - low)
    needed = kernel.rho(moved)
    if needed <= promise.rho:
        return PrivacyProof(promise, Fraction(0), needed, None, None, high - low, kernel.width, "closed-form")
    far = [pair for pair in real_pairs(summary, universe, neighbours) if abs(pair[1] - pair[0]) == moved]
    edge = (str(far[0][0]), str(far[0][1])) if far else None
    return Counterexample(
        "privacy",
        f"A neighbour moves the total by {moved}, and noise with this σ² does not hide a shift of {moved}",
        edge=edge,
        found=f"D_α/α = {moved}²/2σ² = {format_exact(needed)} at that shift, with σ² = {brief(kernel.sigma_squared)}",
        allowed=f"at most {format_exact(promise.rho)}: σ² of at least {brief(Fraction(moved * moved) / (2 * promise.rho))}"
        if promise.rho
        else "no shift at all",
    )


def only_concentrated(promise: Promise) -> Counterexample:
    """Discrete Gaussian noise is proved for ρ, and for no other promise."""
    return Counterexample(
        "privacy",
        "Discrete Gaussian noise keeps no promise of this kind by its formula",
        found=promise.brief(),
        allowed="a promise of ρ (zCDP)",
    )
