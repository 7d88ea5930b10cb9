"""Results of this package as mappings, for whoever shows them: the command line, its JSON, a page in the browser.

Every "at most" is an upper side and every "at least" a lower one; exact numbers stay exact.
"""

from __future__ import annotations

from typing import Any

from discreet.certify.edges.approximate import ApproximateProof
from discreet.currencies import Worst
from discreet.exchange.judgement import Finding, Judgement
from discreet.exchange.usefulness import Beaten
from discreet.geometry.screening import Screen


def judgement_facts(judged: Judgement) -> dict[str, Any]:
    """What a finite mechanism promises and what became of the claims."""
    mechanism, tight = judged.mechanism, judged.tight
    epsilon = tight.epsilon
    return {
        "mechanism": mechanism.name,
        "states": len(mechanism.states),
        "outputs": len(mechanism.outputs),
        "edges": len(mechanism.edges),
        "relation": mechanism.relation,
        "notes": mechanism.notes,
        "refuted": judged.refuted,
        "claims": [finding_facts(finding) for finding in judged.findings],
        "tight_epsilon": None if epsilon is None else [epsilon[0], epsilon[1]],
        "tight_ratio": tight.ratio,
        "edge": tight.edge,
        "output": tight.output,
        "deltas": [delta_facts(proof) for proof in judged.deltas],
        "epsilons": [{"delta": delta, "epsilon": _ends(worst), "edge": worst.edge} for delta, worst in judged.epsilons],
        "rho": {"rho": _ends(judged.rho), "edge": judged.rho.edge},
    }


def finding_facts(finding: Finding) -> dict[str, Any]:
    """A claim and its fate."""
    return {"claim": finding.claim, "holds": finding.holds, "counterexample": finding.counterexample}


def delta_facts(proof: ApproximateProof) -> dict[str, Any]:
    """δ at an ε from both sides, with its edge."""
    return {"epsilon": proof.epsilon, "delta": [proof.tight_low, proof.tight_high], "edge": proof.edge}


def screen_facts(screen: Screen) -> dict[str, Any]:
    """Whether it could be best for anybody, and the outputs that speak against it."""
    return {
        "could_be_best": screen.could_be_optimal,
        "not_extreme": [output.label for output in screen.outputs if not output.extreme],
        "outputs_counted": len(screen.outputs),
    }


def beaten_facts(found: Beaten) -> dict[str, Any]:
    """By how much it is beaten; losses for decisions that are losses."""
    sign = -1 if found.loss else 1
    return {
        "epsilon": found.epsilon,
        "of": "loss" if found.loss else "payoff",
        "own": sign * found.value,
        "designed": sign * found.designed,
        "bound": sign * found.bound,
        "beaten_by": [found.at_least, found.at_most],
        "reads": found.read,
    }


def _ends(worst: Worst) -> list[float]:
    return [worst.lower, worst.upper]
