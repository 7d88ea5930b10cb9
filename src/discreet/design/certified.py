"""From proposals to proofs: what each proposed mechanism is worth and what each witness bounds, and the best of both.

A mechanism and a bound stand on their own: the best value and the best bound make the claim, whichever route found them.
Claims are the proved numbers rounded outward.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet import __version__
from discreet.certify import privacy
from discreet.certify.bounds import CHAIN, FULL, GEOMETRIC, GROWING
from discreet.certify.bounds.full_information import is_answered
from discreet.certify.optimality import proved_value, upper_bound
from discreet.certify.unbiased import unbiased
from discreet.design.proposal import Proposal
from discreet.errors import Refuted
from discreet.frozen import dataclass
from discreet.model.certificate import (
    Certificate,
    Counterexample,
    DualWitness,
    OptimalityClaim,
    RenyiWitness,
    TheoremWitness,
    Witness,
)
from discreet.model.gap import reached
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.problem import Problem
from discreet.model.record import Step

DIGITS = 12


@dataclass(frozen=True, eq=False)
class Candidate:
    """A mechanism with the proved lower side of its value, and the step that led to it."""

    mechanism: Mechanism
    value: Fraction
    proposal: Proposal
    step: Step


@dataclass(frozen=True, eq=False)
class Bound:
    """A witness with the bound that it proves."""

    witness: Witness
    bound: Fraction


class Proofs:
    """The best candidate and the best bound so far, for one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.best: Candidate | None = None
        self.limit: Bound | None = None
        self.bounded_with: Candidate | None = None
        """The candidate that the best bound came with."""
        self._climbed = False

    def proved(self, proposal: Proposal, step: Step) -> tuple[Candidate, Bound | None]:
        """What is proposed with its proofs; nothing is kept yet."""
        witness = proposal.witness
        limit = None if witness is None else self.bounded(witness)
        bare = undocumented(self.problem, proposal, step)
        means = unbiased(bare)
        if isinstance(means, Counterexample):
            raise Refuted("the designed mechanism is not unbiased, which is a defect of the design", means)
        value = proved_value(bare, _unproved(witness or TheoremWitness(FULL)))
        return Candidate(bare, outward(value, down=True), proposal, step), limit

    def bounded(self, witness: Witness) -> Bound:
        """A witness with what it proves, or the truth itself where that proves more: errors are never below nothing."""
        found = Bound(witness, outward(upper_bound(self.problem, witness), down=False))
        return Bound(TheoremWitness(FULL), Fraction(0)) if found.bound > 0 and is_answered(self.problem) else found

    def keep(self, candidate: Candidate | None, limit: Bound | None) -> bool:
        """Keep what is better than before; whether the mechanism is now the best."""
        self._climbed |= candidate is not None and bool(candidate.proposal.rungs)
        if limit is not None and (self.limit is None or limit.bound < self.limit.bound):
            self.limit, self.bounded_with = limit, candidate
        if candidate is None or (self.best is not None and candidate.value <= self.best.value):
            return False
        self.best = candidate
        return True

    def reached(self, gap: float) -> bool:
        """Whether the best value is within the gap of the best bound."""
        if self.best is None or self.limit is None:
            return False
        return reached(float(-self.best.value), float(-self.limit.bound), gap)

    @property
    def tried_a_chain(self) -> bool:
        """Whether a chain was tried already, as the ladder begins with one: it took its time, and is no better the second time."""
        if self._climbed:
            return True
        witness = None if self.limit is None else self.limit.witness
        return isinstance(witness, TheoremWitness) and witness.theorem in (CHAIN, GROWING)

    def settled(self) -> tuple[Mechanism, Certificate]:
        """The best mechanism with its claims, and their certificate."""
        assert self.best is not None and self.limit is not None
        value = self.best.value
        if _way(self.limit.witness) != _way(
            self.best.proposal.witness
        ):  # whoever checks values the mechanism the way this witness says
            try:
                checked = proved_value(self.best.mechanism, _unproved(self.limit.witness))
            except Refuted:  # a theorem about other kernels: the candidate that it came with is as good but for the last digits
                if self.bounded_with is None:
                    raise
                self.best = self.bounded_with
                checked = value = self.best.value
            value = min(value, outward(checked, down=True))
        bound = max(self.limit.bound, value)
        mechanism = replace(self.best.mechanism, claims=Claims(value, bound))
        proof = privacy(mechanism)
        if isinstance(proof, Counterexample):
            raise Refuted("the designed mechanism is not private, which is a defect of the design", proof)
        return mechanism, replace(proof, optimality=OptimalityClaim(value, bound, self.limit.witness))


def certified(problem: Problem, proposal: Proposal, step: Step) -> tuple[Mechanism, Certificate]:
    """One proposal with everything about it proved."""
    proofs = Proofs(problem)
    proofs.keep(*proofs.proved(proposal, step))
    return proofs.settled()


def undocumented(problem: Problem, proposal: Proposal, step: Step) -> Mechanism:
    """A mechanism that promises what the problem asks and claims nothing yet."""
    provenance = {
        "made by": f"discreet {__version__}",
        "reduction": step.name,
        "theorem": step.theorem,
        "rung": proposal.words,
    }
    return Mechanism(problem, proposal.summary, proposal.kernel, problem.guarantee, Claims(), provenance)


def _way(witness: Witness | None) -> str | None:
    """What of a witness says how a mechanism is valued: a reduction, or a theorem that speaks of values; None for the usual way."""
    if isinstance(witness, (DualWitness, RenyiWitness)):
        return witness.reduction
    return witness.theorem if isinstance(witness, TheoremWitness) and witness.theorem == GEOMETRIC else None


def _unproved(witness: Witness) -> OptimalityClaim:
    """A claim that carries a witness to whoever proves it."""
    return OptimalityClaim(Fraction(0), Fraction(0), witness)


def outward(number: Fraction, *, down: bool) -> Fraction:
    """The number with twelve significant decimals, rounded down or up."""
    if number == 0:
        return number
    size = abs(number)
    places = DIGITS
    while size < 1:
        size *= 10
        places += 1
    while size >= 10:
        size /= 10
        places -= 1
    scale = Fraction(10) ** places
    scaled = number * scale
    whole = scaled.numerator // scaled.denominator
    return Fraction(whole if down or whole == scaled else whole + 1) / scale
