"""A design made under one prior, carried over to another: proved there anew, and taken where it is near enough to the best.

Nothing is believed of what it was under its own prior. The kernel keeps the promise whatever the prior is. Its value is computed
under the new one, and so is the bound: with the new π any multipliers f ≥ 0 bound every private mechanism by
Σ_h min_a [π_h·ℓ(a, ω_h) − (Gᵀf_a)_h] (`certify.bounds.dual`). Both are the new design's own certificate, so what sharing loses is
proved.

Multipliers balance costs state by state, so the bound falls with a change of prior by its relative size times about N: a change of
1 % at N = 40 takes a third. `worth_trying` asks only near priors; the proof decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.design.certified import Proofs
from discreet.design.proposal import Proposal
from discreet.design.result import Design
from discreet.design.schedule import now
from discreet.errors import DiscreetError
from discreet.model.certificate import Certificate, DualWitness
from discreet.model.mechanism import Mechanism
from discreet.model.priors import DirichletMultinomialPrior, Prior
from discreet.model.problem import Problem
from discreet.model.record import Step
from discreet.model.universe import Universe

STEEP = 0.5
"""About how much of the bound is lost, at least, for each respondent and unit of relative change."""


@dataclass(frozen=True, eq=False)
class Finished:
    """A certified mechanism."""

    mechanism: Mechanism
    certificate: Certificate


def carried_over(problem: Problem, nearby: Sequence[Finished], gap: float) -> Design | None:
    """The first design for a near prior that serves this problem within the gap; None where none does."""
    for other in nearby:
        if not worth_trying(problem, other, gap):
            continue
        try:
            found = _proved(problem, other, gap)
        except DiscreetError:
            continue
        if found is not None:
            return found
    return None


def worth_trying(problem: Problem, other: Finished, gap: float) -> bool:
    """Whether a design answers the same question under so near a prior that its bound may still be good enough."""
    asked, claim = other.mechanism.problem, other.certificate.optimality
    parts = ("universe", "neighbours", "statistic", "decisions", "promise")
    if any(getattr(asked, part) != getattr(problem, part) for part in parts) or not isinstance(problem.universe, Universe):
        return False
    if claim is None or not isinstance(claim.witness, DualWitness):
        return False
    far = apart(problem.prior, asked.prior)
    return far is not None and claim.relative_gap + STEEP * problem.universe.largest * float(far) <= gap


def apart(one: Prior, two: Prior) -> Fraction | None:
    """The largest relative difference between the numbers of two priors of one kind; None where they are not compared."""
    if type(one) is not type(two) or getattr(one, "size", None) != getattr(two, "size", None):
        return None
    of = "concentration" if isinstance(one, DirichletMultinomialPrior) else "probabilities"
    first, second = getattr(one, of, None), getattr(two, of, None)
    numbers = (first, second)
    if not all(isinstance(each, tuple) and all(isinstance(p, Fraction) for p in each) for each in numbers):
        return None
    assert first is not None and second is not None
    if len(first) != len(second) or any(not p or not q for p, q in zip(first, second, strict=True)):
        return None
    return max(abs(p - q) / min(p, q) for p, q in zip(first, second, strict=True))


def _proved(problem: Problem, other: Finished, gap: float) -> Design | None:
    """The design under this problem's prior; None where it is too far from the best."""
    begun = now()
    claim = other.certificate.optimality
    assert claim is not None
    words = "a mechanism for a near prior, proved under this one"
    step = Step("near prior", True, "", words)
    proofs = Proofs(problem)
    proposal = Proposal(other.mechanism.summary, other.mechanism.kernel, claim.witness, words, "optimal")
    proofs.keep(*proofs.proved(proposal, step))
    if not proofs.reached(gap):
        return None
    mechanism, certificate = proofs.settled()
    took = {"solve": 0.0, "certify": now() - begun, "baselines": 0.0}
    return Design((step,), {}, took, "optimal", notes=problem.notes, mechanism=mechanism, certificate=certificate)
