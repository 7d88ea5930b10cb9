"""Anyone's finite mechanism, judged and viewed: claims proved or refuted with the edge, every currency, what it is good for."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.certify.edges.approximate import ApproximateProof
from discreet.currencies.bracket import Worst
from discreet.exchange.accounting import Dominating
from discreet.exchange.finite_mechanism import FiniteMechanism
from discreet.exchange.judgement import Finding, Judgement
from discreet.exchange.usefulness import Beaten
from discreet.geometry.screening import Screen
from discreet.model.certificate import Counterexample
from discreet.model.mechanism import Mechanism
from discreet.numerics.digits import about, at_least, at_most, given
from discreet.views.view import Block, Fact, Mood, Sentence, View

MOST_LISTED = 6
LEADS = {True: ("Proved:", Mood.GOOD), False: ("Refuted:", Mood.BAD), None: ("Undecided:", Mood.MIND)}


def exported_view(mechanism: Mechanism, table: FiniteMechanism, output: Path, pair: Dominating | None) -> View:
    """The table of a mechanism, or the pair that dominates all neighbours, written to a file."""
    words = "table" if pair is None else "dominating pair"
    facts = {
        "written": output, "what": words, "states": len(table.states), "outputs": len(table.outputs),
        "guarantee": str(mechanism.guarantee), "edge": None if pair is None else pair.edge,
    }  # fmt: skip
    size = f"{len(table.states):,} states, {len(table.outputs):,} outputs"
    return View(facts, (Sentence(f"{output} ({words}, {size})", "Written:", whole=True),))


def judgement_view(judged: Judgement) -> View:
    """What a finite mechanism promises and what became of the claims."""
    mechanism, tight = judged.mechanism, judged.tight
    epsilon = tight.epsilon
    facts = {
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
    return View(facts, tuple(_told(judged)), not judged.refuted)


def _told(judged: Judgement) -> Iterator[Block]:
    mechanism, tight = judged.mechanism, judged.tight
    size = f"{len(mechanism.states):,} states, {len(mechanism.outputs):,} outputs"
    yield Sentence(f"{mechanism.name}: {size}; {mechanism.relation}")
    for finding in judged.findings:
        yield from finding_told(finding)
    where = "" if tight.edge is None else f", output {tight.output} at states {' and '.join(tight.edge)}"
    yield Fact("tight ε", f"{'infinite' if tight.epsilon is None else at_most(tight.epsilon[1], 9)}{where}")
    for proof in judged.deltas:
        yield Fact(f"δ at ε = {given(proof.epsilon)}", f"{at_most(proof.tight_high, 9)}{_at(proof.edge)}")
    for delta, worst in judged.epsilons:
        yield Fact(f"ε at δ = {given(delta)}", f"{_most(worst.upper)}{_at(worst.edge)}")
    yield Fact("ρ", f"{_most(judged.rho.upper)}{_at(judged.rho.edge)}")
    for note in mechanism.notes:
        yield Fact("note", note, Mood.MIND)


def finding_facts(finding: Finding) -> dict[str, Any]:
    """A claim and its fate."""
    return {"claim": finding.claim, "holds": finding.holds, "counterexample": finding.counterexample}


def finding_told(finding: Finding) -> Iterator[Block]:
    """A claim and its fate, in words."""
    lead, mood = LEADS[finding.holds]
    yield Sentence(finding.claim, lead, mood)
    if finding.counterexample is not None:
        yield from counterexample_told(finding.counterexample)


def counterexample_told(found: Counterexample) -> Iterator[Block]:
    """Why a claim is false."""
    yield Fact("why", f"{found.words}.")
    yield Fact("found", found.found or "")
    yield Fact("allowed", found.allowed or "")


def delta_facts(proof: ApproximateProof) -> dict[str, Any]:
    """δ at an ε from both sides, with its edge."""
    return {"epsilon": proof.epsilon, "delta": [proof.tight_low, proof.tight_high], "edge": proof.edge}


def screen_view(screen: Screen) -> View:
    """Whether it could be best for anybody, and the outputs that speak against it."""
    spare = [output.label for output in screen.outputs if not output.extreme]
    listed = ", ".join(spare[:MOST_LISTED])
    words = (
        "it could be best for somebody: every output attains enough privacy bounds"
        if screen.could_be_optimal
        else f"for nobody: outputs {listed} leave privacy bounds unused and can be split into better ones"
    )
    facts = {"could_be_best": screen.could_be_optimal, "not_extreme": spare, "outputs_counted": len(screen.outputs)}
    return View({"best": facts}, (Fact("best", words),))


def beaten_view(found: Beaten) -> View:
    """By how much it is beaten; losses for decisions that are losses."""
    sign = -1 if found.loss else 1
    own, designed, bound = (sign * value for value in (found.value, found.designed, found.bound))
    facts = {
        "epsilon": found.epsilon,
        "of": "loss" if found.loss else "payoff",
        "own": own,
        "designed": designed,
        "bound": bound,
        "beaten_by": [found.at_least, found.at_most],
        "reads": found.read,
    }
    limit = f"loses less than {at_least(bound, 9)}" if found.loss else f"is worth more than {at_most(bound, 9)}"
    words = f"{about(own, 9)}; a design has {about(designed, 9)}, and no purely ε-private mechanism {limit}"
    told = (
        Fact("for the decision", f"at its own ε = {at_most(found.epsilon, 9)}"),
        Fact(str(facts["of"]), words),
        Fact(
            "beaten",
            (f"by at least {at_least(found.at_least, 6)}; by nothing purely ε-private by more than {at_most(found.at_most, 6)}"),
        ),
    )
    return View({"beaten": facts}, told)


def _at(edge: tuple[str, str] | None) -> str:
    return "" if edge is None else f", states {edge[0]} and {edge[1]}"


def _most(number: float | Fraction) -> str:
    return "infinite" if number == float("inf") else at_most(number, 9)


def _ends(worst: Worst) -> list[float]:
    return [worst.lower, worst.upper]


def scripted_view(mechanism: Mechanism, output: Path) -> View:
    """A mechanism written as a script for OpenDP."""
    outputs = len(mechanism.outputs)
    facts = {
        "written": output, "what": "script for OpenDP", "outputs": outputs, "guarantee": str(mechanism.guarantee), "edge": None,
    }  # fmt: skip
    return View(facts, (Sentence(f"{output} (script for OpenDP, {outputs:,} outputs)", "Written:", whole=True),))
