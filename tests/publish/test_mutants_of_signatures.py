"""Mutation tests of who signed a release: change any comparison, and some set of signatures is judged otherwise.

As in `certify/test_mutants`. Keys, entries and heads are stand-ins, so that every combination of present, false and strange
signatures, trusted, revoked and unknown keys, with and without a fingerprint, can be asked; real keys are for `test_signatures`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from mutation import unexplained

import discreet
from discreet.publish.folder import MANIFEST, SIGNATURE

Question = Callable[[ModuleType], Any]

SOURCE = Path(discreet.__file__).parent / "publish" / "signatures.py"
EQUIVALENT: dict[str, str] = {}


class Trusting:
    """What a ledger trusts: `keys` but not `revoked`; "mine" named "other"."""

    def __init__(self, keys: str = "", revoked: str = "", version: int = 2) -> None:
        self.keys, self.revoked, self.format = dict.fromkeys(keys.split(), 1), set(revoked.split()), version

    def named_from(self, anchor: str) -> set[str]:
        return {anchor, "other"} if anchor == "mine" else {anchor}

    def signature(self, entry: Any) -> bool | None:
        return entry.signed


def judged(
    module: ModuleType, where: Path, trust: tuple[str, str, int], commitment: Any, head: Any, files: Any, key: str | None,
    wrong: bool = False, other_name: bool = False,
) -> list[tuple[Any, ...]]:  # fmt: skip
    """Everything that is said of a release with these signatures: each None, or (whether it holds, by whom)."""
    said: list[tuple[Any, ...]] = []
    verdict = SimpleNamespace(say=lambda *words: said.append(words))
    module.Trust = Trusting
    module.fingerprint = lambda public: public
    module.author = lambda _, entry: entry.by
    module.signed_release = lambda *_: b""
    module.signature_holds = lambda _, __, signature: signature == "good"
    module.Head = SimpleNamespace(from_document=lambda d: SimpleNamespace(holds=d[0], public=d[1]))
    signed, by = commitment or (None, "")
    entries = [SimpleNamespace(hash="first", signed=None, by=""), SimpleNamespace(hash="c", signed=signed, by=by)]
    carried = module.Carried(entries, {"first": Trusting(), "c": Trusting(*trust)}, Trusting(*trust), ["entry 1"] if wrong else [])
    where.mkdir(exist_ok=True)
    (where / MANIFEST).write_text("{}", encoding="utf-8")
    (where / SIGNATURE).unlink(missing_ok=True)
    if files is not None:
        stated = {"public": files[1], "signature": "good" if files[0] else "false", **({"more": "x"} if files[0] == "more" else {})}
        (where / SIGNATURE).write_text(json.dumps(stated), encoding="utf-8")
    committed = SimpleNamespace(name="d" if other_name else "c", attested={"statement": "So it is"} if key else {})
    module.check_signatures(where, {"head": head or (None, "")}, carried, committed, key, verdict)
    return said


def test_no_comparison_of_the_signatures_can_change_unnoticed(tmp_path: Path) -> None:
    mine, other, false, stranger = (True, "mine"), (True, "other"), (False, "mine"), (True, "stranger")
    known = ("mine other", "", 2)
    none, one = ("", "", 1), ("mine", "", 2)
    cases: list[tuple[Any, ...]] = [
        (known, mine, mine, mine, None), (known, mine, other, other, None), (known, mine, other, other, "mine"),
        (known, mine, mine, mine, "x"), (known, other, other, other, "mine"), (known, mine, false, mine, None),
        (known, mine, mine, false, None), (known, false, mine, mine, None), (known, mine, stranger, mine, None),
        (known, mine, mine, stranger, "mine"), (known, stranger, stranger, stranger, None),
        (known, mine, mine, ("more", "mine"), None),
        (none, None, None, None, None), (none, None, None, None, "mine"), (none, None, mine, mine, None),
        (known, None, mine, mine, None),
        (("mine", "", 1), mine, mine, mine, None, True), (("mine other", "mine", 2), mine, other, other, None),
        (("", "mine", 1), mine, mine, mine, None), (none, mine, mine, mine, None), (none, mine, None, None, None),
        (one, mine, mine, mine, None, True), (known, mine, mine, mine, None, False, True),
        (("mine", "", 0), mine, mine, mine, None),
        (("mine", "", 3), mine, mine, mine, None),
    ]  # fmt: skip
    questions: list[Question] = [lambda module, case=case: judged(module, tmp_path / "x", *case) for case in cases]
    assert unexplained(SOURCE, questions, EQUIVALENT) == []
