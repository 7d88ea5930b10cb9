"""The checker's verdict, viewed: what is proved, what refutes it, what is stated without a proof."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.certify.verdict import FamilyVerdict, MechanismVerdict, MemberVerdict, RobustVerdict, Verdict
from discreet.model.certificate import Counterexample
from discreet.model.promises import LETTERS
from discreet.numerics.digits import at_least, at_most, between
from discreet.views.view import Block, Fact, Mood, Sentence, View, proved
from discreet.views.words import UNBIASED


def verdict_view(found: Verdict) -> View:
    """What holds of a mechanism, a family or a robust file."""
    facts = _common(found)
    told: Iterator[Block] = iter(())
    if isinstance(found, FamilyVerdict):
        facts |= {"sizes": found.sizes, "members": [_member(member) for member in found.members]}
        told = _told_family(found)
    elif isinstance(found, RobustVerdict):
        facts["priors"] = len(found.references)
        if found.regret is not None:
            sides = found.regret
            facts |= {"worst_regret": sides.worst, "least_worst_regret": sides.least, "losses": list(sides.losses)}
        told = _told_robust(found)
    elif isinstance(found, MechanismVerdict):
        facts |= _mechanism(found)
        told = _told_mechanism(found)
    blocks = [*_refuted(found)] if not found.proved else [*told, *_end(found)]
    return View(facts, tuple(blocks), found.proved)


def _common(found: Verdict) -> dict[str, Any]:
    facts: dict[str, Any] = {"hash": found.hash, "guarantee": str(found.guarantee), "proved": found.proved}
    if found.counterexample is not None:
        facts["counterexample"] = found.counterexample
    return facts | {"not_proved": list(found.not_proved)}


def _mechanism(found: MechanismVerdict) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    shown, claim = found.privacy, found.optimality
    if shown is not None:
        facts |= {
            **shown.promise.numbers,
            f"tight_{shown.promise.keys[-1]}": [shown.tight_low, shown.tight_high],
            "edge": shown.edge,
            "output": shown.output,
            "edges": shown.edges,
            "outputs": shown.outputs,
            "witness": shown.witness,
        }
    if claim is not None:
        facts |= {"value": claim.value, "bound": claim.bound, "relative_gap": claim.relative_gap, "optimality_witness": _by(found)}
        if found.guarantee.promise != found.problem.promise:
            facts["asked"] = str(found.problem.promise)
        if _in_losses(found):
            facts |= {"loss": -claim.value, "lower_bound": -claim.bound}
    if found.unbiased is not None:
        facts["unbiased"] = found.unbiased.kind
    return facts


def _member(member: MemberVerdict) -> dict[str, Any]:
    claim = member.mechanism.optimality
    return {
        "from": member.low,
        "to": member.high,
        **_common(member),
        "values": dict(member.values),
        "relative_gap": None if claim is None else claim.relative_gap,
    }


def _by(found: MechanismVerdict) -> str:
    assert found.optimality is not None
    return found.optimality.witness.kind


def _in_losses(found: MechanismVerdict) -> bool:
    return all(decision.is_loss for decision in found.problem.decisions)


def _refuted(found: Verdict) -> Iterator[Block]:
    members = [m for m in found.members if not m.proved] if isinstance(found, FamilyVerdict) else []
    for member in members:
        yield from counterexample(member.counterexample, f"sizes {member.low} to {member.high}: ")
    if not members:
        yield from counterexample(found.counterexample)


def counterexample(found: Counterexample | None, where: str = "") -> Iterator[Block]:
    """Why a claim is false."""
    if found is not None:
        yield Sentence(f"{where}{found.words}.", "Refuted:", Mood.BAD)
        if found.found is not None:
            yield Fact("found", str(found.found))
        if found.allowed is not None:
            yield Fact("allowed", str(found.allowed))


def _told_mechanism(found: MechanismVerdict) -> Iterator[Block]:
    yield proved(f"{found.guarantee}.")
    shown, claim = found.privacy, found.optimality
    if found.unbiased is not None:
        yield proved(UNBIASED[found.unbiased.kind])
    if shown is not None:
        yield Fact(f"tight {LETTERS[shown.promise.keys[-1]]}", between(shown.tight_low, shown.tight_high, 15))
        if shown.edge is not None:
            at = "" if shown.output is None else f", output {shown.output}"
            yield Fact("attained", f"at states {shown.edge[0]} and {shown.edge[1]}{at}")
        yield Fact("checked", f"{shown.edges:,} edges × {shown.outputs:,} outputs ({shown.witness})")
    if claim is not None:
        if _in_losses(found):
            sides = at_most(-claim.value, 9), at_least(-claim.bound, 9)
            yield Fact("loss", f"{sides[0]}, and no mechanism with this promise{_also(found)} loses less than {sides[1]}")
        else:
            sides = at_least(claim.value, 9), at_most(claim.bound, 9)
            yield Fact("value", f"{sides[0]}, and no mechanism with this promise is worth more than {sides[1]}")
        yield Fact("gap", f"{at_most(claim.relative_gap, 2)} ({_by(found)})")
        if found.guarantee.promise != found.problem.promise:
            yield Fact("among", f"mechanisms with the same promise; the problem would allow {found.problem.promise}")


def _also(found: MechanismVerdict) -> str:
    asked = found.problem.unbiased
    return "" if asked is None else f" and values unbiased {asked}"


def _told_family(found: FamilyVerdict) -> Iterator[Block]:
    yield proved(f"{len(found.members)} mechanisms for sizes {found.sizes}, each {found.guarantee}.")
    claims = [member.mechanism.optimality for member in found.members]
    gaps = [claim.relative_gap for claim in claims if claim is not None]
    if gaps:
        yield Fact("gap", f"at most {at_most(max(gaps), 2)} for every member with a witness")


def _told_robust(found: RobustVerdict) -> Iterator[Block]:
    yield proved(f"{found.guarantee}.")
    if found.regret is not None:
        yield proved(
            f"over {len(found.references)} priors, if recommendations are followed, the worst regret is at most "
            f"{at_most(found.regret.worst)}, and no mechanism with this promise has less than {at_least(found.regret.least)}."
        )


def _end(found: Verdict) -> Iterator[Block]:
    if found.not_proved:
        yield Fact("not proved", f"stated without anything that proves it: {', '.join(found.not_proved)}", Mood.MIND)
    yield Fact("hash", found.hash, whole=True)
