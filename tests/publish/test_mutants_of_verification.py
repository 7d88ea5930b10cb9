"""Mutation tests of what a release is checked for: change any comparison, and some release is judged otherwise.

As in `certify/test_mutants`. Ledger entries are real ones in every order that may and may not be; bundles and folders are
stand-ins that say yes or no, since what they say is proved elsewhere (`test_verification`, `test_forgeries`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from mutation import unexplained

import discreet
from discreet.errors import InputError
from discreet.ledger.chain import Entry
from discreet.publish.commitment import Commitment
from discreet.publish.facts import ATTESTED_COUNTS
from discreet.publish.folder import FACTS, FORMATS, IN_BROWSER, METADATA, STANDALONE
from discreet.publish.verdict import ReleaseVerdict

Question = Callable[[ModuleType], Any]

SOURCE = Path(discreet.__file__).parent / "publish" / "verification.py"
EQUIVALENT: dict[str, str] = {
    "verification: committed.sequence < reserved.sequence [Lt→LtE at 0]": "numbers rise, so no two entries have the same",
}


def said(ask: Callable[[ReleaseVerdict], Any]) -> Any:
    """What a check answers, and everything that it says."""
    verdict = ReleaseVerdict()
    answer = ask(verdict)
    return answer, [(c.kind, c.words, c.holds, c.found) for c in verdict.checks]


def chain(*events: dict[str, Any], times: str = "123456789") -> list[Entry]:
    entries: list[Entry] = []
    for time, event in zip(times, events, strict=False):
        entries.append(Entry.after(entries[-1] if entries else None, time, event))
    return entries


def history(*kinds: str, members: tuple[int | None, ...] = (None,)) -> list[Entry]:
    """init, commit, a reservation for each member, and then steps `kind` or `kind:number of the reservation`."""
    entries = chain({"kind": "init", "currency": "pure"}, {"kind": "commit", "members": [{}, {}]})
    for member in members:
        event = {"kind": "reserve", "commitment": entries[1].hash} | ({} if member is None else {"member": member})
        entries.append(Entry.after(entries[-1], str(len(entries) + 1), event))
    for word in kinds:
        kind, _, number = word.partition(":")
        reserved = entries[2 + int(number or 0)].hash
        entries.append(Entry.after(entries[-1], str(len(entries) + 1), {"kind": kind, "reservation": reserved}))
    return entries


def placed(sequences: str, times: str, previous: int | None = None) -> list[Entry]:
    """init, commit, reserve, spend at these places and times, each with its true hash; one may follow on nothing."""
    entries: list[Entry] = []
    for place, (sequence, time) in enumerate(zip(sequences, times, strict=True)):
        event: dict[str, Any] = [{"kind": "init"}, {"kind": "commit"}, {"kind": "reserve"}, {"kind": "spend"}][place]
        if place > 1:
            event = event | {("commitment", "reservation")[place - 2]: entries[place - 1].hash}
        last = entries[-1].hash if entries and place != previous else "0"
        before = Entry(int(sequence) - 1, "", time, {}, last)
        entries.append(Entry.after(before, time, event))
    return entries


def orders() -> list[tuple[list[Entry], int, int | None]]:
    """Entries, the place of the reservation, and the member of the batch that it is for."""
    good = history("spend")
    init, commit, reserve, spend = good
    steps = ("spend", "", "spend release", "release", "spend burn", "burn", "withdraw", "spend spend", "withdraw burn", "x spend")
    found: list[tuple[list[Entry], int, int | None]] = [(history(*words.split()), 2, None) for words in steps]
    found += [([init, commit, spend], 2, None), ([init, reserve, spend], 1, None), ([init, reserve, commit, spend], 1, None)]
    found += [(good, 3, None), (good, 1, None), ([commit, reserve, spend], 1, None)]
    forged = [[init, commit, replace(reserve, time="2"), spend], [init, commit, replace(reserve, previous="x"), spend]]
    elsewhere = chain(init.event, commit.event, {"kind": "reserve", "commitment": "x"})
    elsewhere.append(Entry.after(elsewhere[-1], "4", {"kind": "spend", "reservation": elsewhere[2].hash}))
    found += [(entries, 2, None) for entries in (*forged, elsewhere)]
    found += [(placed(sequences, "1234"), 2, None) for sequences in ("0123", "0122", "0112", "0012", "0137", "0213", "0132")]
    found += [(placed("0123", times), 2, None) for times in ("1111", "1243", "2134", "1324")]
    found += [(placed(sequences, "1234", 2), 2, None) for sequences in ("0123", "0156")]
    batches = (("spend", 1), ("spend spend:1", 0), ("spend withdraw:1", 0), ("spend spend:1", 1), ("spend release:1", 0))
    return found + [(history(*words.split(), members=(0, second)), 2, 0) for words, second in batches]


def ordered(module: ModuleType, entries: list[Entry], mine: int, member: int | None, head: tuple[int, str]) -> Any:
    commits = [e for e in entries if e.event["kind"] == "commit"]
    made = Commitment(commits[0].hash if commits else "none", {}, member)
    top = SimpleNamespace(sequence=entries[-1].sequence + head[0], hash=entries[-1].hash if head[1] == "last" else "?")
    return said(lambda verdict: module._order(entries, top, made, entries[mine].hash, verdict))


def about_ledgers() -> list[Question]:
    questions: list[Question] = []
    for entries, mine, member in orders():
        questions.append(lambda module, case=(entries, mine, member): ordered(module, *case, (0, "last")))
        questions.append(lambda module, entries=entries: module._steps(entries))
    good = history("spend")
    heads = product((-1, 0, 1), ("last", "other"))
    questions += [lambda module, head=head: ordered(module, good, 2, None, head) for head in heads]
    forged = [good[0], replace(good[1], time="7"), *good[2:]]
    for entries in (good, forged):
        for name in (entries[1].hash, entries[2].hash, "nothing"):
            questions.append(lambda module, e=entries, name=name: said(lambda verdict: module._commitment(e, name, verdict)))
    for member in (None, -1, 0, 1, 2, 3):
        entries = history("spend", members=(member,))
        for entry, name in product((entries[1], None), (entries[2].hash, "nothing")):
            questions.append(lambda module, case=(entries, entry, name): module._committed(*case))
    for first, stated, delta in product(("pure", "approximate", None), ("pure", "approximate", "None"), (None, 0, 1)):
        entries = chain({"kind": "init", "currency": first}, {"kind": "commit"})
        others = [[replace(entries[0], sequence=1)], [replace(entries[0], event={"kind": "note", "currency": first})]]
        committed: Any = SimpleNamespace(batch=None if delta is None else SimpleNamespace(cost=SimpleNamespace(delta=delta)))
        for each in (entries, *others):
            questions.append(lambda module, case=(each, stated, committed): said(lambda verdict: module._currency(*case, verdict)))
    named = [good[0].hash, "other"]
    for ledger, head_ledger, form, version in product(named, named, FORMATS, (1, 2)):
        carried: Any = SimpleNamespace(entries=good, end=SimpleNamespace(format=version))
        case = ({"ledger": ledger}, {"format": form}, SimpleNamespace(ledger=head_ledger), carried)
        questions.append(lambda module, case=case: said(lambda verdict: module._identity(*case, verdict)))
    digits = "0123456789abcdef" * 4
    keys = [None, digits, digits.upper(), digits[:-1], digits + "0", digits[:-1] + "g", ":".join(digits), "0" * 64, ""]
    return questions + [lambda module, key=key: module.fingerprint_of(key) for key in keys]


def contents(module: ModuleType, hashes: dict[str, str], fits: bool, differs: str | None, version: int, asked: Any) -> Any:
    """What is said of a folder whose bundle has the hashes a and b, both 1."""
    module.bundle_in = lambda _: SimpleNamespace(hashes={"a": "1", "b": "1"}, cells=0, used=0, served=0, asked=asked)
    module.read_bytes = lambda *_: b""
    module.release_format = lambda _: version
    seen: list[Any] = []

    def check(_: Any) -> None:
        if not fits:
            raise InputError("no", found="no", allowed="no", remedy="no")

    def restated(*words: Any, **more: Any) -> str | None:
        seen.append((words[4].__name__, more["meant"]))
        return differs

    module.check_bundle, module.restated = check, restated
    module._cost = module._proofs = module._prior = lambda *_: None
    module._metadata = lambda *_: True
    return said(lambda verdict: module._contents(Path(), {}, SimpleNamespace(hashes=hashes), verdict)), seen


def about_bundles(where: Path) -> list[Question]:
    questions: list[Question] = []
    for learned, priors, wrong in product((None, 1), ([], [1]), (None, "x")):
        questions.append(lambda module, case=(learned, priors, wrong): _prior(module, *case))
    for short, binds, batch in product((None, "x"), (True, False), (None, "fine", "wrong")):
        questions.append(lambda module, case=(short, binds, batch): _cost(module, *case))
    yes = (True, False)
    for told in product(yes, yes, ("discreet 1.0", "?"), (b"r", b"x"), (ATTESTED_COUNTS, "no")):
        questions.append(lambda module, told=told: _metadata(module, where, *told))
    for proofs in product((None, "x"), (None, "p"), ({}, {"1": "p"}), ((), ("value",)), ("both", "one", "other", "altered page")):
        questions.append(lambda module, proofs=proofs: _proofs(module, where, *proofs))
    whole = {"a": "1", "b": "1"}
    questions += [
        lambda module, case=case: contents(module, *case)
        for case in (
            (whole, True, None, 2, None), (whole, True, "x", 1, 3), (whole, False, None, 2, None),
            ({"a": "2", "b": "1"}, True, None, 2, None), ({"a": "1"}, True, None, 2, None),
            (whole | {"c": "1"}, True, None, 2, None), (whole, True, None, 3, None), (whole, True, None, 0, None),
        )
    ]  # fmt: skip
    return questions


def _prior(module: ModuleType, learned: Any, priors: list[int], wrong: str | None) -> Any:
    module.learned_priors, module.does_not_follow, module.told = lambda _: priors, lambda *_: wrong, str
    return said(lambda verdict: module._prior(SimpleNamespace(learned=learned, hashes={"learned": "h"}), "l", verdict))


def _cost(module: ModuleType, short: str | None, binds: bool, batch: str | None) -> Any:
    of = SimpleNamespace(members=[1], cost="c", rule="r", shortfall=lambda: None if batch == "fine" else batch)
    committed = SimpleNamespace(shortfall=lambda _: short, binds=lambda _: binds, batch=None if batch is None else of)
    return said(lambda verdict: module._cost(committed, SimpleNamespace(cost="c"), verdict))


def _metadata(module: ModuleType, where: Path, new: bool, same: bool, software: str, record: bytes, counts: str) -> Any:
    stated = {"implementation": {"software": software, "histograms": counts}}
    (where / FACTS).unlink(missing_ok=True)
    (where / METADATA).write_bytes(record)
    (where / (FACTS if new else METADATA)).write_text(json.dumps(stated), encoding="utf-8")

    def facts(_: Any, __: Any, attested: bool) -> dict[str, Any]:
        histograms = (ATTESTED_COUNTS if attested else "no") if same else "else"
        return {"implementation": {"software": "", "histograms": histograms}}

    module.release_facts = module.first_facts = facts
    module.metadata, module.metadata_bytes = lambda *_: None, lambda _: b"r"
    return module._metadata(where, None, {})


def _proofs(module: ModuleType, where: Path, refuted: Any, privacy: Any, stated: Any, left: Any, texts: str) -> Any:
    (where / "certificates.json").write_text(json.dumps(stated), encoding="utf-8")
    (where / STANDALONE).write_bytes(b"other" if texts == "other" else STANDALONE.encode())
    (where / IN_BROWSER).unlink(missing_ok=True)
    if texts in ("both", "altered page"):
        (where / IN_BROWSER).write_bytes(IN_BROWSER.encode() if texts == "both" else b"other")
    module.certificate_document, module.Certificate = lambda c: c, lambda _, shown: shown
    module.named, module.standalone_verifier = str, lambda name: name.encode()
    one = SimpleNamespace(counterexample=refuted, privacy=privacy, hash="h", not_proved=left)
    return said(lambda verdict: module._proofs(where, SimpleNamespace(verdicts=lambda: {1: one}), verdict))


def test_no_comparison_of_the_verification_can_change_unnoticed(tmp_path: Path) -> None:
    questions = about_ledgers() + about_bundles(tmp_path)
    assert unexplained(SOURCE, questions, EQUIVALENT) == []
