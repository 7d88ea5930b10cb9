"""Mechanism and certificate files: written exactly and atomically, read strictly, and never half there."""

from __future__ import annotations

import base64
import copy
import json
import os
import random
import struct
import tracemalloc
import zlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_worlds import mechanism_on, problem_of, random_mechanism

from discreet import files
from discreet.errors import DiscreetError, InputError, Refuted, TooLarge
from discreet.files.atomic import write_atomically
from discreet.files.canonical import (
    SOME,
    Streamed,
    canonical_bytes,
    canonical_pieces,
    document_hash,
    parse_json,
    parse_object,
    pieces_hash,
)
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.model.actions import NamedActions
from discreet.model.certificate import (
    Certificate,
    DualWitness,
    Multipliers,
    OptimalityClaim,
    PrivacyProof,
    TheoremWitness,
)
from discreet.model.decision import Decision
from discreet.model.kernel import CountedKernel, GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.losses import TableLoss
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.promises import PurePromise
from discreet.model.summary import Clamp, LinearSummary
from discreet.model.universe import Universe

TWO = (Fraction(0), Fraction(1))
PROBLEM = problem_of(Universe.of(2, TWO), ReplaceOne())
COUNT = LinearSummary((0, 1))
COUNTED = CountedKernel(-1, 3, 1, 8, Fraction(1, 2), 8, ((5, 6, 5), (4, 8, 4)), 32)


def table(actions: tuple[Any, ...] = (Fraction(1, 3), Fraction(2))) -> TableKernel:
    outputs = tuple(Output(str(i), action) for i, action in enumerate(actions))
    return TableKernel(("0", "1", "2"), outputs, ((5, 4, 3), (3, 4, 5)), 8)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def mechanisms() -> list[Mechanism]:
    named = Decision(TableLoss(((Fraction(0),) * 3, (Fraction(1, 3),) * 3)), NamedActions(("go", "stay")))
    two = replace(PROBLEM, decisions=(PROBLEM.decision, named))
    actions = (Fraction(0), Fraction(1, 2), Fraction(2))
    return [
        replace(mechanism_on(PROBLEM, COUNT, table()), claims=Claims(Fraction(-1, 3), Fraction(1, 7)), provenance={"by": "hand"}),
        mechanism_on(replace(PROBLEM, decisions=(named,)), COUNT, table(("go", "stay"))),
        mechanism_on(two, COUNT, table(((Fraction(1), "go"), (Fraction(2), "stay")))),
        mechanism_on(PROBLEM, COUNT, GeometricKernel(0, 2, 1, Fraction(1, 2), actions)),
        mechanism_on(PROBLEM, COUNT, StaircaseKernel(-1, 4, 2, 2, Fraction(3, 5))),
        mechanism_on(PROBLEM, LinearSummary((0, 9)), COUNTED),
        mechanism_on(PROBLEM, COUNT, table((None, None)), Fraction(1, 2)),
    ]


@pytest.mark.parametrize("mechanism", mechanisms())
def test_a_mechanism_is_hashed_piece_by_piece_as_it_is_written(mechanism: Mechanism, tmp_path: Path) -> None:
    whole = mechanism_document(mechanism)
    assert files.mechanism_hash(mechanism) == document_hash(whole)
    assert files.write_mechanism(tmp_path / "m.json", mechanism) == document_hash(whole)
    assert (tmp_path / "m.json").read_bytes() == canonical_bytes(whole) + b"\n"


@pytest.mark.parametrize("count", [0, 1, SOME - 1, SOME, SOME + 1, 2 * SOME])
def test_a_list_that_is_made_while_it_is_written_is_the_list(count: int) -> None:
    made = {"b": {"z": Streamed(lambda: ({"number": str(k)} for k in range(count))), "a": [1]}, "a": None, "é": "x"}
    items = [{"number": str(k)} for k in range(count)]
    whole = {"b": {"z": items, "a": [1]}, "a": None, "é": "x"}
    assert b"".join(canonical_pieces(made)) == canonical_bytes(whole) and pieces_hash(made) == document_hash(whole)
    assert pieces_hash({**made, "a": 0}) != document_hash(whole)
    keyed = {"a": Streamed(lambda: (f'{k}"é\n' for k in range(count)), key='né"')}
    texts = {"a": [{'né"': f'{k}"é\n'} for k in range(count)]}
    assert b"".join(canonical_pieces(keyed)) == canonical_bytes(texts)
    with pytest.raises(InputError, match="keys must be text"):
        list(canonical_pieces({**made, 1: "x"}))
    with pytest.raises(InputError, match="not exact"):
        list(canonical_pieces({"a": Streamed(lambda: [{"number": 0.5}])}))
    with pytest.raises(InputError, match="keys must be text"):
        list(canonical_pieces({"a": Streamed(lambda: [{"number": "1"}, {2: "1"}])}))


def test_a_million_actions_are_hashed_in_little_memory() -> None:
    """As one document they took three times the memory of the mechanism."""
    actions = tuple(map(Fraction, range(30_000)))
    wide = mechanism_on(PROBLEM, COUNT, GeometricKernel(0, len(actions) - 1, 1, Fraction(1, 2), actions))
    tracemalloc.start()
    files.mechanism_hash(wide)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3_000_000  # 9 MB as one document


@pytest.mark.parametrize("which", range(7))
def test_what_is_written_is_read_again(tmp_path: Path, which: int) -> None:
    mechanism = mechanisms()[which]
    digest = files.write_mechanism(tmp_path / "x.mechanism.json", mechanism)
    again = files.read_mechanism(tmp_path / "x.mechanism.json")
    assert again == mechanism and files.mechanism_hash(again) == digest == files.mechanism_hash(mechanism)
    data = (tmp_path / "x.mechanism.json").read_bytes()
    assert canonical_bytes(json.loads(data)) + b"\n" == data
    assert names(tmp_path) == ["x.mechanism.json"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("stride", None), ("tail", None), ("weights", None), ("stride", 0), ("stride", "8"),
        ("tail", "08"), ("tail", 8), ("tail", "9"),
        ("weights", [["5", "6"], ["4", "8", "4"]]), ("weights", [[]]), ("weights", []), ("weights", [[5, 6, 5]]), ("weights", "x"),
        ("denominator", "31"), ("denominator", "-32"), ("ratio", "1"), ("plateau", 1), ("from", 1), ("to", 1),
        ("step", 0), ("family", "staircase"), ("stride", 2), ("stride", True),
    ],
)  # fmt: skip
def test_what_is_no_noise_that_follows_a_count_is_refused_in_words(key: str, value: object) -> None:
    document = mechanism_document(mechanism_on(PROBLEM, LinearSummary((0, 9)), COUNTED))
    assert mechanism_from_document(copy.deepcopy(document)).kernel == COUNTED
    document["kernel"][key] = value
    if value is None:
        del document["kernel"][key]
    with pytest.raises(InputError) as caught:
        mechanism_from_document(document)
    assert all(part in str(caught.value) for part in ("Found: ", "Allowed: "))


def test_a_stride_whose_tables_do_not_fit_is_refused_in_words() -> None:
    document = mechanism_document(mechanism_on(PROBLEM, LinearSummary((0, 9)), COUNTED))
    document["kernel"]["stride"] = 10**30
    with pytest.raises(TooLarge, match="do not fit into 64 bits"):
        mechanism_from_document(document)


@pytest.mark.parametrize("seed", range(60))
def test_random_mechanisms_survive_the_round_trip(seed: int) -> None:
    mechanism = random_mechanism(random.Random(seed))
    document = mechanism_document(mechanism)
    again = mechanism_from_document(copy.deepcopy(document))
    assert again == mechanism and mechanism_document(again) == document


def test_weights_of_ten_thousand_digits(tmp_path: Path) -> None:
    """Python refuses to print or read integers of more than 4,300 digits unless asked in the right way."""
    whole = 1 << 40_000
    kernel = TableKernel(("0", "1", "2"), (Output("x"), Output("y")), ((1, 2, 3), (whole - 1, whole - 2, whole - 3)), whole)
    mechanism = mechanism_on(PROBLEM, COUNT, kernel)
    files.write_mechanism(tmp_path / "x.mechanism.json", mechanism)
    assert files.read_mechanism(tmp_path / "x.mechanism.json") == mechanism
    with pytest.raises(InputError, match="do not sum"):
        replace(kernel, weights=((1, 2, 3), (whole, whole, whole)))
    with pytest.raises(InputError, match="power of two"):
        replace(kernel, denominator=whole + 1)


def proof() -> PrivacyProof:
    return PrivacyProof(PurePromise(Fraction(1)), Fraction(1, 3), Fraction(1, 2), ("0", "1"), "x", 2, 3)


WITNESSES = [
    None,
    TheoremWitness("SY Thm 3", (("reduction", "merged-count"),)),
    DualWitness("dual", Clamp((0, 0), (0, 2), 0), 10**12, (Multipliers(Fraction(1, 3), ((0, 1, 7), (1, 0, 2**62))),)),
    DualWitness("dual-with-chord", None, 1, (Multipliers(Fraction(0), ()), Multipliers(Fraction(1), ((2, 1, 1),)))),
    DualWitness("dual", None, 10**5000, (Multipliers("go", ((0, 1, 1),)),)),
]


@pytest.mark.parametrize("witness", WITNESSES)
def test_certificates_survive_the_round_trip(tmp_path: Path, witness: Any) -> None:
    claim = None if witness is None else OptimalityClaim(Fraction(-1, 3), Fraction(1, 7), witness)
    certificate = Certificate("ab" * 32, proof(), claim)
    files.write_certificate(tmp_path / "x.certificate.json", certificate)
    assert files.read_certificate(tmp_path / "x.certificate.json") == certificate


def test_the_certificate_stands_beside_its_mechanism() -> None:
    assert files.certificate_path("a/x.mechanism.json") == Path("a/x.certificate.json")
    assert files.certificate_path("x.family.json") == Path("x.certificate.json")
    assert files.certificate_path("x.json") == files.certificate_path("x") == Path("x.certificate.json")


def packed(*numbers: int) -> str:
    return base64.b64encode(zlib.compress(struct.pack(f"<{len(numbers)}q", *numbers))).decode()


@pytest.mark.parametrize("flows", ["", "x", "AAAA", packed(1, 2), packed(0, 1, 5)[:-4], packed(0, 1, -5), "é",
                                   base64.b64encode(zlib.compress(bytes(24)) + b"more").decode()])  # fmt: skip
def test_damaged_flows_are_refused(flows: str) -> None:
    document = certificate_document(Certificate("x", proof(), OptimalityClaim(Fraction(0), Fraction(1), WITNESSES[3])))  # type: ignore[arg-type]
    document["optimality"]["witness"]["multipliers"][1]["flows"] = flows
    with pytest.raises(InputError):
        certificate_from_document(document)


def test_flows_that_inflate_are_refused_before_they_do() -> None:
    """Adversary: a few kilobytes of zeros, packed, that stand for gigabytes of flows."""
    bomb = base64.b64encode(zlib.compress(bytes(24 * 10**7), 9)).decode()
    document = certificate_document(Certificate("x", proof(), OptimalityClaim(Fraction(0), Fraction(1), WITNESSES[3])))  # type: ignore[arg-type]
    multipliers = document["optimality"]["witness"]["multipliers"]
    multipliers[1]["flows"] = bomb
    assert len(bomb) < 400_000
    tracemalloc.start()
    with pytest.raises(InputError, match="damaged or endless"):
        certificate_from_document(document)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * len(bomb)


def test_flows_that_happen_to_pack_well_can_still_be_read() -> None:
    flows = ((0, 1, 5),) * 100_000
    witness = DualWitness("dual", None, 1, (Multipliers(Fraction(0), flows),))
    certificate = Certificate("x", proof(), OptimalityClaim(Fraction(0), Fraction(1), witness))
    assert certificate_from_document(certificate_document(certificate)) == certificate


def test_flows_beyond_64_bits_are_refused_in_words(tmp_path: Path) -> None:
    witness = DualWitness("dual", None, 1, (Multipliers(Fraction(0), ((0, 1, 2**63),)),))
    certificate = Certificate("x", proof(), OptimalityClaim(Fraction(0), Fraction(1), witness))
    with pytest.raises(InputError, match="64 bits"):
        files.write_certificate(tmp_path / "x.certificate.json", certificate)
    assert names(tmp_path) == []


BAD_MECHANISMS: list[tuple[str, Any, str]] = [
    ("format", "discreet-mechanism/2", "format"), ("kernel/family", "gaussian", "family"),
    ("kernel/weights/0/0", "6", "do not sum"), ("kernel/weights/0/0", 5, "weights"), ("kernel/weights/0/0", "-5", "weights"),
    ("kernel/weights/0/0", "05", "weights"), ("kernel/weights/0", ["5", "4"], "one entry for each state"),
    ("kernel/denominator", "7", "power of two"), ("kernel/outputs/1/label", "0", "same label"),
    ("kernel/outputs/0/action", {"number": "1", "name": "x"}, "a number or a name"),
    ("kernel/outputs/0/action", {}, "a number or a name"), ("kernel/outputs/0/action", {"name": "go"}, "does not have"),
    ("kernel/outputs/0/acton", {}, "did you mean 'action'?"), ("kernel/ratio", "1/2", "no such key"),
    ("kernel/states/1", "9", "not those that its summary makes"), ("kernel/edges", None, "no kernel.edges"),
    ("kernel/edges", [[0, 1, 2]], "edges"), ("summary/kind", "median", "summary.kind"),
    ("summary/weights", None, "no summary.weights"), ("claims/valu", "1", "'value'"),
    ("summary/weights", [0], "one integer for each type"), ("summary/clamp", {"lower": [0], "upper": [1]}, "no such key"),
    ("summary/low", 3, "not those that its summary makes"), ("guarantee/epsilon", "-1", "from 0 on"),
    ("guarantee/epsilon", "2", "promises less privacy"), ("guarantee/neighbours", "given", "another relation"),
    ("guarantee/neighbours", "swap", "known relation"), ("guarantee/unit", "dog", "another relation or unit"),
    ("guarantee/delta", "2", "between 0 and 1"), ("problem/data/respondents", 3, "not those that its summary makes"),
    ("problem/privacy/epsilon", "1/2", "promises less privacy"), ("provenance", {"a": 1}, "provenance"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "words"), BAD_MECHANISMS)
def test_a_mechanism_file_that_is_wrong_is_refused_in_words(path: str, value: Any, words: str) -> None:
    document = mechanism_document(mechanisms()[0])
    *way, last = path.split("/")
    here: Any = document
    for key in way:
        here = here[int(key)] if isinstance(here, list) else here[key]
    key: Any = int(last) if isinstance(here, list) else last
    if value is None:
        del here[key]
    else:
        here[key] = value
    with pytest.raises((InputError, Refuted)) as found:
        mechanism_from_document(document)
    assert words.lower() in str(found.value).lower()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not valid JSON"), (b"{", "not valid JSON"), (b'{"a": 1.5}', "floating-point"), (b'{"a": NaN}', "floating-point"),
        (b'{"a": 1, "a": 2}', "same key twice"), (b"\xff", "not text"), (b"[" * 100_000, "nested too deeply"),
        (b"[" * 60 + b"]" * 60, "nested too deeply"), (b"1" * 5000, "too long"), (b'{"a": 1e5}', "floating-point"),
    ],
)  # fmt: skip
def test_json_is_strict(text: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_json(text, "the file")


@pytest.mark.parametrize("text", [b"[]", b"7", b'"{}"', b"null"])
def test_what_is_no_object_is_refused_where_one_is_read(text: bytes) -> None:
    assert parse_object(b'{"a": []}', "the file") == {"a": []}
    with pytest.raises(InputError, match="holds no JSON object"):
        parse_object(text, "the file")


def test_only_exact_documents_are_hashed() -> None:
    assert document_hash({"b": [1, "x"], "a": None}) == document_hash({"a": None, "b": (1, "x")})
    for wrong in ({"a": 0.5}, {1: 2}, {"a": {1, 2}}):
        with pytest.raises(InputError):
            canonical_bytes(wrong)


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.mechanism.json"
    files.write_mechanism(path, mechanisms()[0])
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="could not be written"):
        files.write_mechanism(path, mechanisms()[3])
    assert path.read_bytes() == before and names(tmp_path) == [path.name]
    monkeypatch.undo()
    with pytest.raises(InputError, match="could not be written"):
        write_atomically(tmp_path / "missing" / "x", b"x")


leaves = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6) | st.sampled_from(
    ["table", "1/3", "5", "geometric", "9" * 5000, "linear", "given", "dual", "theorem"]
)  # fmt: skip
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3))
DOCUMENTS = [mechanism_document(m) for m in mechanisms()]
CERTIFICATES = [
    certificate_document(Certificate("x", proof(), None if w is None else OptimalityClaim(Fraction(0), Fraction(1), w)))
    for w in WITNESSES  # type: ignore[arg-type]
]


def damage(document: Any, rng: random.Random, value: Any) -> Any:
    """Any value in any place of a document."""
    document = copy.deepcopy(document)
    here = document
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return document
        key = rng.choice(keys)
        if not isinstance(here[key], (dict, list)) or rng.random() < 0.3:
            here[key] = value
            return document
        here = here[key]


@settings(max_examples=250)
@given(st.sampled_from(range(len(DOCUMENTS))), st.randoms(use_true_random=False), values)
def test_a_damaged_mechanism_is_read_or_refused(which: int, rng: random.Random, value: Any) -> None:
    from discreet import certify

    try:
        certify.privacy(mechanism_from_document(damage(DOCUMENTS[which], rng, value)))
    except DiscreetError:
        return


@settings(max_examples=150)
@given(st.sampled_from(range(len(CERTIFICATES))), st.randoms(use_true_random=False), values)
def test_a_damaged_certificate_is_read_or_refused(which: int, rng: random.Random, value: Any) -> None:
    try:
        certificate_document(certificate_from_document(damage(CERTIFICATES[which], rng, value)))
    except DiscreetError:
        return


@settings(max_examples=150)
@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:0123456789.eE+-ntrufalse \\', max_size=60).map(str.encode))
def test_any_bytes_are_json_or_refused(data: bytes) -> None:
    try:
        canonical_bytes(parse_json(data, "the file"))
    except InputError:
        return
