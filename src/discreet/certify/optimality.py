"""Is the mechanism worth what it claims, and can no private mechanism be worth more than the bound?

Both sides are computed again from the problem and the mechanism: the value by `value` (by `weighted_sums` where states are too
many to list), the bound from the witness by weak duality (`dual`, or `quotient` on average) or by a theorem whose conditions
are checked (`theorems`). The maker's word counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.certify.bounds import CHAIN, CONCENTRATED, FULL, GEOMETRIC, GROWING
from discreet.certify.bounds.dual import dual_upper_bound
from discreet.certify.value.expected import expected_payoff
from discreet.errors import InputError, Refuted
from discreet.model.certificate import (
    BoxesWitness,
    CoinsWitness,
    Counterexample,
    CrowdWitness,
    DualWitness,
    OptimalityClaim,
    PlayersWitness,
    QuotientWitness,
    RenyiWitness,
    SetAsideWitness,
    SeveralWitness,
    ShiftedWitness,
    TheoremWitness,
    UnbiasedWitness,
    UrnWitness,
    Witness,
)
from discreet.model.kernel import ClosedKernel, CountedKernel, GaussianKernel, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.reductions import reduced
from discreet.model.summary import LinearSummary
from discreet.model.together import together
from discreet.model.universe import Universe
from discreet.on_demand import when_called

BOUNDS: dict[str, tuple[type[Witness], Callable[[Problem, Any], Fraction]]] = {
    "dual": (DualWitness, dual_upper_bound),
    "dual-with-chord": (DualWitness, dual_upper_bound),
    "quotient": (QuotientWitness, when_called("discreet.certify.bounds.quotient", "quotient_upper_bound")),
    "set-aside": (SetAsideWitness, when_called("discreet.certify.bounds.set_aside", "set_aside_upper_bound")),
    "coins": (CoinsWitness, when_called("discreet.certify.bounds.coins", "coins_upper_bound")),
    "boxes": (BoxesWitness, when_called("discreet.certify.bounds.boxes", "boxes_upper_bound")),
    "crowd": (CrowdWitness, when_called("discreet.certify.bounds.crowd", "crowd_upper_bound")),
    "urn": (UrnWitness, when_called("discreet.certify.bounds.urn", "urn_upper_bound")),
    "renyi-cuts": (RenyiWitness, when_called("discreet.certify.bounds.renyi", "renyi_upper_bound")),
    "players": (PlayersWitness, when_called("discreet.certify.bounds.players", "players_upper_bound")),
    "unbiased": (UnbiasedWitness, when_called("discreet.certify.bounds.unbiased", "unbiased_upper_bound")),
    "shifted": (ShiftedWitness, when_called("discreet.certify.bounds.unbiased", "shifted_upper_bound")),
    FULL: (TheoremWitness, when_called("discreet.certify.bounds.theorems", "theorem_upper_bound")),
    CHAIN: (TheoremWitness, when_called("discreet.certify.bounds.other_chains", "any_chain_bound")),
    GROWING: (TheoremWitness, when_called("discreet.certify.bounds.other_chains", "growing_chain_bound")),
    CONCENTRATED: (TheoremWitness, when_called("discreet.certify.bounds.concentrated_chain", "concentrated_chain_bound")),
    GEOMETRIC: (TheoremWitness, when_called("discreet.certify.bounds.theorems", "theorem_upper_bound")),
}
"""How a witness of each kind is checked; a new kind adds a file to `bounds` and a line here."""
MOST_LISTED = 30_000
"""Histograms beyond which a table on a weighted sum is valued by the law of the sum."""
MOST_PAIRS = 50_000_000
"""Histograms times outputs beyond which noise that follows a count is valued by the law of its counts."""


def optimality(mechanism: Mechanism, claim: OptimalityClaim) -> OptimalityClaim | Counterexample:
    """The claim, proved; or what is wrong with it."""
    try:
        value = proved_value(mechanism, claim)
        bound = proved_bound(mechanism, claim)
    except Refuted as refuted:
        return Counterexample("optimality", str(refuted))
    except InputError as error:
        return Counterexample("optimality", f"The witness cannot be checked: {error}")
    except OverflowError:
        return Counterexample("optimality", "The witness cannot be checked: its payoffs are too large for floats")
    if value < claim.value:
        return Counterexample(
            "value", "The mechanism is worth less than it claims", found=_shown(value), allowed=f"at least {_shown(claim.value)}"
        )
    if bound > claim.bound:
        return Counterexample(
            "bound",
            "The witness proves a weaker bound than is claimed",
            found=_shown(bound),
            allowed=f"at most {_shown(claim.bound)}",
        )
    stated = mechanism.claims
    if stated.value not in (None, claim.value) or stated.bound not in (None, claim.bound):
        return Counterexample("claims", "The mechanism file claims other numbers than its certificate")
    return claim


def proved_value(mechanism: Mechanism, claim: OptimalityClaim) -> Fraction:
    """A lower side of the mechanism's expected payoff."""
    if isinstance(claim.witness, (DualWitness, RenyiWitness)):
        if claim.witness.reduction is not None:
            mechanism = _on_reduced(mechanism, claim.witness.reduction) or mechanism
    elif isinstance(claim.witness, TheoremWitness):
        from discreet.certify.bounds.theorems import theorem_value

        found = theorem_value(mechanism, claim.witness)
        if found is not None:
            return found
    if not _listable(mechanism):
        from discreet.certify.value.weighted_sums import weighted_sum_payoff, why_not_weighted_sum

        if why_not_weighted_sum(mechanism) is None:
            from discreet.certify.value.counted import counted_payoff
            from discreet.certify.value.face_value import face_value_payoff
            from discreet.certify.value.on_a_line import line_payoff

            for without_a_law in (face_value_payoff, line_payoff, counted_payoff):  # none is worse than those after it
                found = without_a_law(mechanism)
                if found is not None:
                    return found
            return weighted_sum_payoff(mechanism)[0]
    return listed_value(mechanism)


def listed_value(mechanism: Mechanism) -> Fraction:
    """A lower side of the expected payoff, state by state, whatever the kernel."""
    if isinstance(mechanism.kernel, GaussianKernel):
        from discreet.certify.value.gaussian import listed_payoff

        return listed_payoff(mechanism, mechanism.kernel)[0]
    if isinstance(mechanism.kernel, CountedKernel):
        from discreet.certify.value.counted_listed import listed_counted_payoff

        return listed_counted_payoff(mechanism, mechanism.kernel)[0]
    return expected_payoff(mechanism)[0]


def _listable(mechanism: Mechanism) -> bool:
    """Whether a mechanism is valued state by state: histograms, or databases where order matters; geometric and staircase noise
    never is."""
    problem, universe = mechanism.problem, mechanism.problem.universe
    count = 0
    if isinstance(universe, Universe):
        count = universe.histogram_count if problem.exchangeable else universe.database_count
    few = count <= MOST_LISTED
    match mechanism.kernel:
        case TableKernel():
            return few
        case GaussianKernel():
            squared = len(problem.decisions) == 1 and isinstance(problem.decision.loss, SquaredLoss)
            return few and problem.exchangeable and not squared  # two moments of its sum are a hundred times quicker, and as near
        case CountedKernel():
            return few and count * mechanism.kernel.width <= MOST_PAIRS
        case ClosedKernel():
            return False


def _on_reduced(mechanism: Mechanism, name: str) -> Mechanism | None:
    """The same kernel read as a mechanism for the reduced problem, worth the same there; None when it reads something else."""
    smaller = reduced(mechanism.problem, name)
    summary = mechanism.summary
    if not isinstance(summary, LinearSummary) or summary.weights != smaller.summary.weights:
        return None
    count = LinearSummary(smaller.pair, summary.low, summary.high)
    return replace(mechanism, problem=smaller.problem, summary=count)


def proved_bound(mechanism: Mechanism, claim: OptimalityClaim) -> Fraction:
    """An upper bound on every private mechanism's expected payoff for the guarantee's promise."""
    return upper_bound(mechanism.problem.with_promise(mechanism.guarantee.promise), claim.witness)


def upper_bound(problem: Problem, witness: Witness) -> Fraction:
    """What no mechanism that keeps the problem's promise exceeds, by this witness."""
    if isinstance(witness, SeveralWitness):
        return _added_up(problem, witness)
    form, check = BOUNDS.get(witness.kind, (None, None))
    if form is None or check is None or not isinstance(witness, form):
        raise Refuted("the certificate rests on a kind of witness that is not known", witness.kind)
    return check(problem, witness)


def _added_up(problem: Problem, witness: SeveralWitness) -> Fraction:
    """All see the same output, and no decision maker does better with it than with the best for him alone."""
    if len(witness.each) != len(problem.decisions):
        raise Refuted("the witness has not one part for each decision maker", f"{len(witness.each)} parts")
    alone = (replace(problem, decisions=(decision,)) for decision in problem.decisions)
    with together(len(witness.each), "bounds of decision makers"):
        return sum((upper_bound(one, part) for one, part in zip(alone, witness.each, strict=True)), Fraction(0))


def _shown(number: Fraction) -> str:
    return f"{float(number):.12g}"
