"""One verdict for every artefact: whatever a file states is proved, refuted, or named as not proved."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from forged_files import campaign
from forger import Document, honest, parts, repair
from oracle import judged, lies

from discreet.certify import verdict
from discreet.errors import InputError
from discreet.files.canonical import canonical_bytes
from discreet.files.mechanism import mechanism_from_document, mechanism_hash


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("kept"))


def documents(kind: str, folder: str) -> list[Document]:
    return [json.loads(text) for text in honest(kind, folder)]


def rehashed(document: Document) -> Document:
    """The document with every certificate naming the mechanism beside it."""
    for mechanism, certificate in parts(document):
        certificate["mechanism"] = mechanism_hash(mechanism_from_document(mechanism))
    return document


@pytest.mark.parametrize("kind", ["mechanism", "family", "robust"])
def test_an_honest_file_is_proved_with_nothing_left_open(kind: str, folder: str) -> None:
    for document in documents(kind, folder):
        found = judged(kind, document)
        assert found.proved and found.not_proved == ()
        assert lies(kind, document, found) == []


Change = Callable[[Any], None]
"""Changes a mechanism's document, m, or its certificate's, c."""

FORGERIES: dict[str, Change] = {
    "epsilon": lambda p: p["c"]["privacy"].update(epsilon="1/1000"),
    "a larger epsilon": lambda p: p["c"]["privacy"].update(epsilon="2"),
    "a smaller tight epsilon": lambda p: p["c"]["privacy"].update(tight=["0", "1/2"]),
    "a tight epsilon from above": lambda p: p["c"]["privacy"].update(tight=[p["c"]["privacy"]["tight"][1], "2"]),
    "edges": lambda p: p["c"]["privacy"].update(edges=p["c"]["privacy"]["edges"] + 1),
    "outputs": lambda p: p["c"]["privacy"].update(outputs=p["c"]["privacy"]["outputs"] - 1),
    "edge": lambda p: p["c"]["privacy"].update(edge=p["c"]["privacy"]["edge"][::-1]),
    "output": lambda p: p["c"]["privacy"].update(output="77"),
    "witness": lambda p: p["c"]["privacy"].update(witness="closed-form" if p["m"]["kernel"]["family"] == "table" else "edge-check"),
    "the hash": lambda p: p["c"].update(mechanism="0" * 64),
    "the value": lambda p: p["c"]["optimality"].update(value="0"),
    "the bound": lambda p: p["c"]["optimality"].update(bound="-100"),
    "claims": lambda p: p["m"]["claims"].update(value="0", bound="0"),
}


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.parametrize("kind", ["mechanism", "family", "robust"])
def test_a_forged_number_is_refuted_in_every_part_of_every_artefact(kind: str, name: str, folder: str) -> None:
    for document in documents(kind, folder):
        for part in range(len(list(parts(document)))):
            forged = copy.deepcopy(document)
            FORGERIES[name](dict(zip("mc", list(parts(forged))[part], strict=True)))
            if name == "claims":
                rehashed(forged)
            assert not judged(kind, forged).proved, (name, part)


def test_a_payoff_at_some_size_is_proved_at_that_size(folder: str) -> None:
    for document in documents("family", folder):
        for member in range(len(document["members"])):
            for size, stated in document["members"][member]["values"].items():
                for value, holds in (("0", False), (str(Fraction(stated) + Fraction(1, 10**9)), False), ("-100", True)):
                    forged = copy.deepcopy(document)
                    forged["members"][member]["values"][size] = value
                    found = judged("family", forged)
                    assert found.proved is holds, (size, value)


def test_absent_places_may_not_count(folder: str) -> None:
    document = documents("family", folder)[0]
    assert document["members"][1]["absent"] == 0
    for other in (1, 2):
        document["members"][1]["absent"] = other
        found = judged("family", document)
        assert found.counterexample is not None and found.counterexample.claim == "absent"


def test_another_belief_about_absent_places_changes_the_payoff(folder: str) -> None:
    document = documents("family", folder)[0]
    for probability in ("1/100", "99/100"):
        document["members"][1]["absent_probability"] = probability
        assert not judged("family", document).proved


def test_without_a_belief_about_absent_places_payoffs_are_named_as_not_proved(folder: str) -> None:
    document = documents("family", folder)[0]
    del document["members"][1]["absent_probability"]
    found = judged("family", document)
    assert found.proved and found.not_proved == ("sizes 3 to 4: payoff at size 3", "sizes 3 to 4: payoff at size 4")


@pytest.mark.parametrize("kind", ["mechanism", "family"])
def test_claims_whose_witness_was_dropped_are_named(kind: str, folder: str) -> None:
    document = documents(kind, folder)[0]
    for mechanism, certificate in parts(document):
        del certificate["optimality"]
        mechanism["claims"] = {"value": "0", "bound": "0"}
    found = judged(kind, rehashed(document))
    assert found.proved and any("value" in name for name in found.not_proved) and any("bound" in name for name in found.not_proved)


def test_a_robust_file_needs_every_witness(folder: str) -> None:
    for number in range(3):
        document = documents("robust", folder)[0]
        mechanism, certificate = list(parts(document))[number]
        del certificate["optimality"]
        mechanism["claims"] = {}
        found = judged("robust", rehashed(document))
        assert found.counterexample is not None and "no witness of optimality" in found.counterexample.words


@pytest.mark.parametrize("weights", [["1", "0"], ["2", "-1"], ["1/2", "1/3"], ["1"]])
def test_weights_that_make_another_mixture_are_refuted(weights: list[str], folder: str) -> None:
    document = documents("robust", folder)[0]
    document["weights"] = weights
    assert not judged("robust", document).proved


def test_a_file_is_told_by_its_format_and_not_by_its_name(folder: str, tmp_path: Path) -> None:
    kinds = {"mechanism": verdict.MechanismVerdict, "family": verdict.FamilyVerdict, "robust": verdict.RobustVerdict}
    for kind, expected in kinds.items():
        document = documents(kind, folder)[0]
        path = tmp_path / f"{kind}.anything"
        path.write_bytes(canonical_bytes(document.get("m", document)))
        assert isinstance(verdict.of_file(path), expected)


@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"format": "discreet-certificate/1"}', b'{"format": 3}', b'{"format": ["x"]}'])
def test_a_file_without_claims_is_refused_in_words(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.family.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="makes no claims"):
        verdict.of_file(path)


def test_a_family_takes_no_second_certificate(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(canonical_bytes(documents("family", folder)[0]))
    with pytest.raises(InputError, match="holds its certificates itself"):
        verdict.of_file(path, path)


@pytest.mark.parametrize(("kind", "count"), [("mechanism", 250), ("family", 150), ("robust", 150)])
def test_no_random_forgery_is_believed(kind: str, count: int, folder: str) -> None:
    outcomes, believed = campaign(kind, count, 20, folder)
    assert believed == [] and outcomes["refuted"] > count / 10


@pytest.mark.parametrize(("weakened", "lie"), [("_wrong_privacy", "outputs"), ("_another_mechanism", "certificate.mechanism")])
def test_the_oracle_catches_a_checker_that_looks_away(
    weakened: str, lie: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Near-miss: with one test of the checker switched off, the same forgeries are believed, and the oracle says so."""
    monkeypatch.setattr(verdict, weakened, lambda *_: None)
    _, believed = campaign("family", 150, 20, folder)
    assert lie in {word for words, _ in believed for word in words}


def test_repairs_keep_an_honest_file_honest(folder: str) -> None:
    """The forger's repairs alone make no lie: what the campaign finds comes from its changes."""
    import random

    for kind in ("mechanism", "family"):
        for document in documents(kind, folder):
            for seed in range(6):
                mended = copy.deepcopy(document)
                repair(mended, random.Random(seed))
                assert judged(kind, mended).proved
