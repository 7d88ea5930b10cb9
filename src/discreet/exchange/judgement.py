"""Is it what it says? A finite mechanism's promises in pure ε, (ε, δ) and ρ, each proved or refuted with the edge.

The tight ε is the logarithm of an exact ratio; δ at an ε is decided in integers (`certify.edges.approximate`); ρ is the
supremum over orders α of D_α/α, enclosed from both sides (`currencies.zcdp`): a claim between the two sides is called
undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.certify.edges.approximate import (
    ApproximateProof,
    EdgeLeak,
    approximate,
    edge_leaks,
    tight_delta,
)
from discreet.certify.edges.pure import worst_ratio
from discreet.currencies import Profile, Worst
from discreet.currencies import rho as tight_rho
from discreet.errors import InputError
from discreet.exchange.finite_mechanism import FiniteMechanism
from discreet.model.certificate import Counterexample
from discreet.numerics.brackets import compare_ratio_exp, log_bracket
from discreet.numerics.digits import at_least, given
from discreet.numerics.exact import exact

LEVELS = (Fraction(1, 2), Fraction(1), Fraction(2))
"""The ε at which δ is shown when none is asked for."""
BITS = 64


@dataclass(frozen=True)
class TightRatio:
    """The largest ratio of an output's probabilities at neighbours, exact; None when one of the two is zero."""

    ratio: Fraction | None
    edge: tuple[str, str] | None
    output: str | None

    @property
    def epsilon(self) -> tuple[Fraction, Fraction] | None:
        """Its logarithm from both sides; None stands for infinity."""
        return None if self.ratio is None else log_bracket(self.ratio, BITS)


@dataclass(frozen=True)
class Finding:
    """A claim in words, and whether it holds: True, False with its counterexample, or None when it could not be decided."""

    claim: str
    holds: bool | None
    counterexample: Counterexample | None = None


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a finite mechanism promises, and what became of the claims made for it."""

    mechanism: FiniteMechanism
    tight: TightRatio
    deltas: tuple[ApproximateProof, ...]
    epsilons: tuple[tuple[Fraction, Worst], ...]
    rho: Worst
    findings: tuple[Finding, ...]

    @property
    def refuted(self) -> bool:
        return any(finding.holds is False for finding in self.findings)


def judge(
    mechanism: FiniteMechanism,
    *,
    epsilon: object = None,
    delta: object = None,
    rho: object = None,
    at_epsilons: Sequence[object] = (),
    at_deltas: Sequence[object] = (),
) -> Judgement:
    """Decide the claims given (ε alone is pure, with δ approximate; ρ is zCDP) and show every currency besides."""
    if delta is not None and epsilon is None and rho is None:
        raise InputError(
            "A δ is claimed together with an ε or a ρ", found=f"δ = {delta}", allowed="both", remedy="give what it goes with"
        )
    level = None if epsilon is None else _claimed(epsilon, "epsilon")
    chance = None if delta is None else _claimed(delta, "delta")
    rate = None if rho is None else _claimed(rho, "rho")
    tight = tight_ratio(mechanism)
    concentrated = tight_rho(mechanism.profiled)
    found: list[Finding] = []
    if level is not None:
        found.append(decide(mechanism, level, chance) if chance else decide_pure(tight, level))
    if rate is not None:
        slack = chance if level is None else None
        found.append(_decide_rho(concentrated, rate) if not slack else _decide_slack_rho(mechanism, concentrated, rate, slack))
    shown = [_claimed(e, "epsilon") for e in at_epsilons] or [*([level] if level is not None else []), *LEVELS]
    deltas = tuple(tight_delta(mechanism.weights, e) for e in dict.fromkeys(shown))
    profile = Profile(mechanism.profiled)
    epsilons = tuple((d, profile.epsilon_for_delta(d)) for d in (_claimed(d, "delta") for d in at_deltas))
    return Judgement(mechanism, tight, deltas, epsilons, concentrated, tuple(found))


def tight_ratio(mechanism: FiniteMechanism) -> TightRatio:
    """The tight e^ε, exact, with the output and the edge (likelier state first) that attain it."""
    table = mechanism.weights
    rows = tuple(tuple(row) for row in table.weights)
    worst = worst_ratio(rows, [list(edge) for edge in table.edges])
    if worst is None:
        return TightRatio(Fraction(1), None, None)
    top, bottom, output, high, low = worst
    edge = (mechanism.states[high], mechanism.states[low])
    return TightRatio(Fraction(top, bottom) if bottom else None, edge, mechanism.outputs[output])


def decide(mechanism: FiniteMechanism, epsilon: Fraction, delta: Fraction) -> Finding:
    """Whether it is (ε, δ)-private, exactly."""
    words = f"ε = {given(epsilon)}" + (f", δ = {given(delta)}" if delta else "")
    found = approximate(mechanism.weights, epsilon, delta)
    if isinstance(found, Counterexample):
        return Finding(words, False, found)
    return Finding(words, True)


def decide_pure(tight: TightRatio, epsilon: Fraction) -> Finding:
    """Whether every ratio stays within e^ε, exactly."""
    words = f"ε = {given(epsilon)}"
    if tight.ratio is not None and compare_ratio_exp(tight.ratio.numerator, tight.ratio.denominator, epsilon) <= 0:
        return Finding(words, True)
    first, second = tight.edge or ("", "")
    low = None if tight.epsilon is None else tight.epsilon[0]
    return Finding(
        words,
        False,
        Counterexample(
            "privacy",
            f"Output {tight.output} is too much likelier at state {first} than at its neighbour {second}",
            edge=tight.edge,
            output=tight.output,
            found="an infinite ratio" if low is None else f"a log-ratio of at least {at_least(low, 15)}",
            allowed=f"a log-ratio of at most {given(epsilon)}",
        ),
    )


def by_count(mechanism: FiniteMechanism, epsilon: object) -> list[EdgeLeak]:
    """δ at this ε of every edge, in both directions."""
    return edge_leaks(mechanism.weights, _claimed(epsilon, "epsilon"))


def _decide_rho(worst: Worst, rate: Fraction) -> Finding:
    words = f"ρ = {given(rate)}"
    if worst.upper != float("inf") and Fraction(worst.upper) <= rate:
        return Finding(words, True)
    infinite = worst.lower == float("inf")
    if infinite or Fraction(worst.lower) > rate:
        at = worst.edge or ("", "")
        none = "no ρ at all, since an output is impossible on one side"
        found = none if infinite else f"ρ of at least {at_least(worst.lower, 12)}"
        reason = f"The Rényi divergence from state {at[0]} to its neighbour {at[1]} is too large at some order"
        allowed = f"ρ up to {given(rate)}"
        return Finding(words, False, Counterexample("privacy", reason, edge=worst.edge, found=found, allowed=allowed))
    return Finding(words, None)


def _decide_slack_rho(mechanism: FiniteMechanism, worst: Worst, rate: Fraction, chance: Fraction) -> Finding:
    """δ-approximate ρ-zCDP: outputs impossible at a neighbour have a chance of at most δ (Bun & Steinke 2016, Def. 8.1)."""
    words = f"ρ = {given(rate)}, δ = {given(chance)}"
    mass, edge = impossible(mechanism)
    if mass > chance and edge is not None:
        reason = f"Outputs that are impossible at state {edge[1]} have probability {at_least(mass, 12)} at its neighbour {edge[0]}"
        allowed = f"a probability of at most {given(chance)}"
        return Finding(words, False, Counterexample("privacy", reason, edge=edge, found=at_least(mass, 12), allowed=allowed))
    return Finding(words, True if mass == 0 and Fraction(min(worst.upper, 1e300)) <= rate else None)


def impossible(mechanism: FiniteMechanism) -> tuple[Fraction, tuple[str, str] | None]:
    """The largest probability, over directed edges, of outputs that the other end cannot produce; exact, with the edge."""
    best, there = Fraction(0), None
    for a, b in mechanism.edges:
        for h, g in ((a, b), (b, a)):
            mass = sum((row[h] for row in mechanism.rows if not row[g]), Fraction(0))
            if mass > best:
                best, there = mass, (mechanism.states[h], mechanism.states[g])
    return best, there


def _claimed(value: object, what: str) -> Fraction:
    number = exact(value, what)
    if number < 0 or (what == "delta" and number > 1):
        raise InputError(
            f"{what} is out of range", found=str(value), allowed="0 to 1" if what == "delta" else "0 or more", remedy="correct it"
        )
    return number
