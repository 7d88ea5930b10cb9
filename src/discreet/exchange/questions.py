"""The questions of NIST SP 800-226 about a mechanism or a release, each answered from evidence, attested, or left open.

The guidelines (Near, Darais, Lefkovitz & Howarth, March 2025) picture a guarantee as a pyramid: its numbers and its unit on top,
algorithms and implementation in the middle, trust, security and the collection of data at its foot, each resting on what is below.
The questions here are in our words, one or more for each block. An answer says where it comes from:

    certificate   proved again from the mechanism by the checker
    ledger        from the chain of entries in the release, replayed
    release       checked from the folder: plan, key set, tables, signatures
    attested      somebody says so, and nothing here can check it
    unanswered    nothing in the file or folder says it

A release that fails verification is evidence of nothing: all that its folder says then counts as unanswered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.certify.verdict import MechanismVerdict, of_mechanism
from discreet.errors import InputError
from discreet.files.certificate import certificate_from_document
from discreet.model.certificate import Certificate
from discreet.model.guarantee import RELATIONS
from discreet.model.mechanism import Mechanism
from discreet.numerics.digits import about, at_least, at_most, between
from discreet.publish.bundle import mechanism_for, members_of
from discreet.publish.facts import ATTESTED_COUNTS
from discreet.publish.folder import FACTS, document_in
from discreet.publish.verdict import ReleaseVerdict
from discreet.publish.verification import verified

SOURCES = ("certificate", "ledger", "release", "attested", "unanswered")
OPEN = "Not said in what was given."

PARAMETERS, UNIT, RELEASES, ALGORITHM = "Privacy parameters", "Unit of privacy", "Several releases", "Algorithm and accuracy"
IMPLEMENTATION, TRUST, SECURITY, COLLECTION = "Implementation", "Trust model", "Security and access", "Collection of the data"

Said = tuple[str, str]
"""An answer and its source."""


@dataclass(frozen=True)
class QuestionAnswer:
    """A question under a block of the pyramid, its answer, and where the answer comes from."""

    block: str
    question: str
    answer: str
    source: str


QUESTIONS: tuple[tuple[str, str, str], ...] = (
    ("loss", PARAMETERS, "How large can the privacy loss be, in which definition?"),
    ("tight", PARAMETERS, "Is that number proved, and how close is it to the smallest that holds?"),
    ("delta", PARAMETERS, "With what probability may the guarantee fail altogether?"),
    ("unit", UNIT, "Whose data does the guarantee speak of?"),
    ("neighbours", UNIT, "Which two databases may not be told apart: is somebody's presence protected, or only their values?"),
    ("contributions", UNIT, "How many records can one unit contribute, and who sees to it?"),
    ("budget", RELEASES, "Is there a budget for everything that is published about these people?"),
    ("composition", RELEASES, "How do the losses of several releases add up?"),
    ("tuned", RELEASES, "Was anything chosen by looking at the private data first?"),
    ("accuracy", ALGORITHM, "How accurate is it, for which use, and could something private be more accurate?"),
    ("bias", ALGORITHM, "Is it biased, and against whom?"),
    ("unprotected", ALGORITHM, "What is published without protection?"),
    ("randomness", IMPLEMENTATION, "Where does the randomness come from, and can rounding of noise give values away?"),
    ("channels", IMPLEMENTATION, "Can running time, failures or messages give values away?"),
    ("verifiable", IMPLEMENTATION, "Can a reader check any of this?"),
    ("trust", TRUST, "Who sees the data in the clear, and who must be trusted?"),
    ("security", SECURITY, "How are the data, and who may see them, secured?"),
    ("retention", SECURITY, "Are the data and everything made on the way deleted, and when?"),
    ("collection", COLLECTION, "How were the data collected, and how exposed were people by that alone?"),
)


def mechanism_answers(mechanism: Mechanism, certificate: Certificate | None = None) -> tuple[QuestionAnswer, ...]:
    """What a mechanism file answers: what the checker proves now, and nothing about releases."""
    return _filled(dict(_of_mechanism(mechanism, of_mechanism(mechanism, certificate))))


def release_answers(folder: Path, key: str | None = None) -> tuple[tuple[QuestionAnswer, ...], ReleaseVerdict]:
    """What a release folder answers once it verifies, and the verdict itself."""
    where = Path(folder)
    if not (where / "manifest.json").is_file():
        raise InputError(
            "This folder is no release", found=str(where), allowed="a folder that publish wrote", remedy="give the release's folder"
        )
    verdict = verified(where, key)
    if not verdict.holds:
        wrong = next(check for check in verdict.checks if check.holds is False)
        said = f"The release fails verification ({wrong.words}), so what it says counts for nothing."
        return _filled({"verifiable": (said, "release")}), verdict
    facts, ledger = document_in(where, FACTS), document_in(where, "ledger.json")
    members = members_of(document_in(where, "mechanism.json"))
    worst = max((mechanism_for(m) for m in members.values()), key=lambda m: tuple(m.guarantee.promise.numbers.values()))
    beside = where / "certificate.json"
    certificate = certificate_from_document(document_in(where, beside.name)) if beside.exists() else None
    found = dict(_of_mechanism(worst, of_mechanism(worst, certificate, worth=certificate is not None)))
    return _filled(found | dict(_of_release(facts, ledger, verdict))), verdict


def _filled(found: Mapping[str, Said]) -> tuple[QuestionAnswer, ...]:
    return tuple(QuestionAnswer(block, question, *found.get(name, (OPEN, "unanswered"))) for name, block, question in QUESTIONS)


def _of_mechanism(mechanism: Mechanism, verdict: MechanismVerdict) -> Iterator[tuple[str, Said]]:
    promise, guarantee = mechanism.guarantee.promise, mechanism.guarantee
    proof = verdict.privacy
    if proof is None:
        reason = verdict.counterexample
        yield "loss", (f"The promise {promise} is false: {reason.words if reason else 'it could not be proved'}.", "certificate")
        return
    yield "loss", (f"{promise}: {promise.meaning(promise.document())}.", "certificate")
    span = between(proof.tight_low, proof.tight_high, 9)
    yield "tight", (f"Proved in exact arithmetic; the smallest {promise.letter} that holds is {span}.", "certificate")
    fails = promise.numbers.get("delta")
    if promise.kind != "zcdp":
        said = "Never: there is no δ." if not fails else f"At most {at_most(fails, 9)}."
        yield "delta", (said, "certificate")
    yield "unit", (f"{guarantee.unit}, as the problem names it.", "attested")
    relation = {"replace-one": "one respondent's value is replaced", "add-remove-one": "one respondent is added or left out"}
    kind = RELATIONS.get(guarantee.neighbours, guarantee.neighbours)
    words = relation.get(guarantee.neighbours, "as listed in the problem")
    yield "neighbours", (f"{guarantee.neighbours} ({kind}): {words}.", "certificate")
    if verdict.optimality is not None:
        yield "accuracy", (_accuracy(mechanism, verdict), "certificate")
    yield "bias", (
        f"It is designed for a prior of kind {mechanism.problem.prior.kind}: recommended actions lean towards it. "
        "The report and design say by how much.", "attested",
    )  # fmt: skip
    yield "randomness", ("Probabilities are whole numbers over one denominator; no noise is rounded.", "certificate")
    yield "verifiable", ("discreet certify proves it again; verify_standalone.py does so with Python alone.", "certificate")


def _accuracy(mechanism: Mechanism, verdict: MechanismVerdict) -> str:
    claim = verdict.optimality
    assert claim is not None
    kinds = " and ".join(d.loss.kind for d in mechanism.problem.decisions)
    if all(d.is_loss for d in mechanism.problem.decisions):
        best = f"no private mechanism loses less than {at_least(-claim.bound, 6)}"
        return f"For {kinds} under the stated prior it loses {about(-claim.value, 6)}, and {best}."
    best = f"no private mechanism is worth more than {at_most(claim.bound, 6)}"
    return f"For {kinds} under the stated prior it is worth {about(claim.value, 6)}, and {best}."


def _of_release(facts: Mapping[str, Any], ledger: Mapping[str, Any], verdict: ReleaseVerdict) -> Iterator[tuple[str, Said]]:
    loss, accounting, made = facts["privacy_loss"], facts["accounting"], facts["implementation"]
    total = ", ".join(f"{name} = {loss[key]}" for name, key in (("ε", "epsilon"), ("δ", "delta"), ("ρ", "rho")) if key in loss)
    yield "loss", (f"For one {loss['privacy_unit']} and all cells together: {total}.", "certificate")
    yield "unit", (f"{loss['privacy_unit']}; that its records are told apart rightly is the publisher's word.", "attested")
    yield "neighbours", (f"Protected are {loss['protects']}.", "release")
    limits = f"At most {loss['rows_per_unit']} records in each of {loss['cells_per_unit']} cells"
    if made["histograms"] == ATTESTED_COUNTS:
        yield "contributions", (f"{limits}; the counts were made elsewhere, and that they keep to it is attested.", "attested")
    else:
        yield "contributions", (f"{limits}, cut to it by the software that counted, as the publisher says it ran.", "attested")
    caps = [e["event"] for e in ledger["entries"] if e["event"]["kind"] == "budget"]
    mine = [e for e in caps if e["population"] == accounting["population"]]
    if mine:
        whom = f"for {accounting['population']}, unit {mine[-1]['unit']}"
        said = f"{mine[-1]['cap']} in the currency {accounting['currency']} {whom}; "
        yield "budget", (f"{said}this release is charged to it. What else was spent is in the ledger itself.", "ledger")
    yield "composition", (f"{accounting['composition']}; currency {accounting['currency']}.", "ledger")
    entry = next(e["event"] for e in ledger["entries"] if e["hash"] == ledger["commitment"])
    word = str(entry.get("attested", {}).get("statement", "")) or "No statement was signed."
    yield "tuned", (f"Plan, key set and mechanism were committed before the draw, by the order of the ledger. {word}", "attested")
    yield "unprotected", (f"{'; '.join(facts['unprotected_quantities'])}.", "release")
    yield (
        "randomness",
        (
            f"The {made['randomness']}, drawn bit for bit as proved ({made['software']}); that it was so is the publisher's word.",
            "attested",
        ),
    )
    yield "channels", ("Nothing after the commitment depends on values by design; how it was run cannot be seen here.", "attested")
    held = sum(check.holds is True for check in verdict.checks)
    left = sum(check.holds is None for check in verdict.checks)
    yield "verifiable", (f"{held} checks hold from this folder alone; {left} cannot be decided from it. discreet verify", "release")
    yield "trust", ("Central: the publisher counts and draws. Readers need trust nobody for what is proved.", "attested")
