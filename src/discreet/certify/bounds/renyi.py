"""Lower bounds on loss under ρ (zCDP): linear cuts of Rényi divergences with multipliers, redone in whole numbers.

Lemma. For α > 1 and any numbers r_a > 0 every pair of distributions satisfies, since p^α q^(1−α) is convex and homogeneous,

    Σ_a [α r_a^{α−1} p_a − (α−1) r_a^α q_a] ≤ Σ_a p_a^α q_a^(1−α) ≤ e^{α(α−1)ρ}      along an edge of a ρ-zCDP mechanism.

More generally with u_a ≥ 0 and w_a ≥ (α−1)(u_a/α)^{α/(α−1)}: that set is convex, so between two actions u and w may be taken
linear, which is how `chords` bounds real actions. With multipliers λ ≥ 0 on cuts p → q

    loss ≥ Σ_h min_a [ π_h·ℓ(a, ω_h) + Σ_{h→q} λ u_a − Σ_{p→h} λ w_a ] − Σ λ·e^{α(α−1)ρ}.

The order is α = 1 + 1/k with a whole k, and r = t^k: u = α·t and w = (α−1)·t^{k+1}, so that no root is ever taken. Rounding is
towards the weaker bound: u and λ·u down, w up, e^{α(α−1)ρ} up, prior weights as for other duals. Actions without an entry have
u = w = 0. States outside the box carry no cut and count with their least loss.

A reduction (`model.reductions`) holds under ρ as under ε: what it leaves out is drawn anew, the same for both of two neighbours,
and a mixture has no larger divergence than the worst of the pairs it mixes (D_α is jointly quasi-convex).
"""

from __future__ import annotations

from fractions import Fraction

from discreet.certify.bounds.dual import least_pulled, stage_of
from discreet.certify.duality.pulls import Pull, PullStage
from discreet.errors import Refuted
from discreet.model.certificate import ROOT_BITS, Multipliers, RenyiWitness
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise
from discreet.model.reductions import reduced
from discreet.numerics.brackets import rational_above_exp

BITS = 192
"""Units of 2^−BITS in which powers and pulls are rounded."""
MOST_ROOT = 4096


def renyi_upper_bound(problem: Problem, witness: RenyiWitness) -> Fraction:
    """A number that no ρ-zCDP mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    promise = problem.promise
    if not isinstance(promise, ConcentratedPromise):
        raise Refuted("cuts of Rényi divergences bound mechanisms under a promise of ρ", promise.brief())
    if witness.reduction is not None:
        problem = reduced(problem, witness.reduction).problem
    return -cut_lower_bound(problem, witness, stage_of(problem, witness.box), promise.rho)


def cut_lower_bound(problem: Problem, witness: RenyiWitness, stage: PullStage, rho: Fraction) -> Fraction:
    """What no mechanism that keeps ρ along the edges of the stage loses less than."""
    if witness.root > MOST_ROOT:
        raise Refuted("the order of the cuts is too close to one to be checked", f"1 + 1/{witness.root}")
    weights = _weights(witness, stage)
    pulls = [_pull(m, witness, weights) for m in witness.multipliers]
    lowest = least_pulled(problem, stage, pulls)
    order = 1 + Fraction(1, witness.root)
    limit = rational_above_exp(order * (order - 1) * rho, BITS)
    return lowest - limit * Fraction(sum(weights.values()), witness.scale)


def _weights(witness: RenyiWitness, stage: PullStage) -> dict[tuple[int, int], int]:
    """λ of each cut over the witness's scale; refutes cuts where no edge is, and two on one."""
    found: dict[tuple[int, int], int] = {}
    for start, end, weight in witness.cuts:
        if (min(start, end), max(start, end)) not in stage.edges or (start, end) in found:
            raise Refuted("the witness cuts where no edge is, or twice", f"states {start} and {end}")
        found[start, end] = weight
    return found


def _pull(multipliers: Multipliers, witness: RenyiWitness, weights: dict[tuple[int, int], int]) -> Pull:
    """Σ_{p→h} λ w − Σ_{h→q} λ u of one action at each state: what its bracket loses, rounded up."""
    root, scale = witness.root, witness.scale
    found: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    for start, end, t in multipliers.flows:
        if (start, end) not in weights or (start, end) in seen:
            raise Refuted("the witness has a ratio where it has no cut, or twice", f"states {start} and {end}")
        seen.add((start, end))
        weight = weights[start, end]
        # λ·α·t with α = (root + 1)/root, rounded down;  λ·(α − 1)·t^(root+1), rounded up
        out = (weight * (root + 1) * t << BITS) // (root * scale << ROOT_BITS)
        into = -(-weight * _power_up(t << BITS - ROOT_BITS, root + 1) // (root * scale))
        found[start] = found.get(start, 0) - out
        found[end] = found.get(end, 0) + into
    return Pull(multipliers.action, {h: Fraction(pull, 1 << BITS) for h, pull in found.items()})


def _power_up(t: int, n: int) -> int:
    """t^n in units of 2^−BITS, every product rounded up."""
    power = 1 << BITS
    while n:
        if n & 1:
            power = -(-power * t >> BITS)
        t, n = -(-t * t >> BITS), n >> 1
    return power
