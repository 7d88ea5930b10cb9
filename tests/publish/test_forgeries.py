"""Forgeries by someone who has everything public and no key: each is refused, or named under one of the four headings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from forging import edited, failed, other_values, replayed, resealed, retold, unsigned
from towns import Town, make_town

from discreet.errors import InputError
from discreet.ledger import Signer, open_ledger
from discreet.ledger.chain import Entry
from discreet.publish import commit, publish, verify
from discreet.publish.folder import FORMATS, SIGNATURE, changed_since
from discreet.publish.verification import verified


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Town:
    town = make_town(tmp_path_factory.mktemp("forged") / "town")
    town.publish()
    Signer.create(town.folder / "strange.pem")
    return town


@pytest.fixture
def copy(signed: Town, tmp_path: Path) -> Path:
    return Path(shutil.copytree(signed.target, tmp_path / "release"))


def unsigned_files(folder: Path, _strange: Signer) -> None:
    other_values(folder)
    (folder / SIGNATURE).unlink()
    resealed(folder)


def unsigned_head(folder: Path, _strange: Signer) -> None:
    edited(folder, "ledger.json", lambda d: d.update(head={"sequence": d["head"]["sequence"], "hash": d["head"]["hash"]}))
    (folder / SIGNATURE).unlink()
    resealed(folder)


def signed_by_a_stranger(folder: Path, strange: Signer) -> None:
    other_values(folder)
    resealed(folder, strange)


def commitment_replayed(folder: Path, _strange: Signer) -> None:
    other_values(folder)
    retold(folder, replayed)
    (folder / SIGNATURE).unlink()
    resealed(folder)


def commitment_replayed_and_signed_by_a_stranger(folder: Path, strange: Signer) -> None:
    other_values(folder)
    retold(folder, replayed, strange)
    resealed(folder, strange)


def capitals_in_the_signature(folder: Path, _strange: Signer) -> None:
    edited(folder, SIGNATURE, lambda d: d.update(signature=d["signature"].upper()))


def capitals_in_the_public_key(folder: Path, _strange: Signer) -> None:
    edited(folder, SIGNATURE, lambda d: d.update(public=d["public"].upper()))


def spaces_in_the_signature(folder: Path, _strange: Signer) -> None:
    edited(folder, SIGNATURE, lambda d: d.update(signature=" ".join(d["signature"][i : i + 2] for i in range(0, 128, 2))))


def words_beside_the_signature(folder: Path, _strange: Signer) -> None:
    edited(folder, SIGNATURE, lambda d: d.update(note="checked by the office"))


def signature_written_otherwise(folder: Path, _strange: Signer) -> None:
    (folder / SIGNATURE).write_bytes(b" " + (folder / SIGNATURE).read_bytes())


def manifest_written_otherwise(folder: Path, _strange: Signer) -> None:
    (folder / "manifest.json").write_bytes((folder / "manifest.json").read_bytes() + b"\n")


def _reservation_moved(entries: list[Entry]) -> list[dict[str, Any]]:
    """Every true signature, with an entry put between them: the places no longer fit."""
    found = [dict(entry.event) | {"was": entry.hash} for entry in entries]
    return [*found[:2], dict(found[1]) | {"population": "others", "was": None}, *found[2:]]


def entries_moved(folder: Path, _strange: Signer) -> None:
    retold(folder, _reservation_moved)
    resealed(folder)


def signatures_of_entries_taken_away(folder: Path, _strange: Signer) -> None:
    retold(folder, unsigned)
    (folder / SIGNATURE).unlink()
    resealed(folder)


def everything_signed_by_a_stranger_in_the_publishers_name(folder: Path, strange: Signer) -> None:
    """The ledger lists the publisher's key; the stranger signs as if trusted."""
    other_values(folder)
    retold(folder, unsigned, strange)
    resealed(folder, strange)


def _named_by_nobody(strange: Signer, publisher: str) -> Callable[[list[Entry]], list[dict[str, Any]]]:
    def tell(entries: list[Entry]) -> list[dict[str, Any]]:
        naming = {"kind": "key", "public": strange.public, "by": publisher, "signature": "0" * 128}
        found = [dict(entry.event) | {"was": entry.hash} for entry in entries]
        return [found[0], naming, *found[1:]]

    return tell


def a_key_that_the_publisher_never_named(folder: Path, strange: Signer) -> None:
    publisher = json.loads((folder / SIGNATURE).read_bytes())["public"]
    other_values(folder)
    retold(folder, _named_by_nobody(strange, publisher), strange)
    resealed(folder, strange)


def another_budget(folder: Path, _strange: Signer) -> None:
    """A larger cap, in the entry that the release carries."""
    edited(folder, "ledger.json", lambda d: d["entries"][1]["event"].update(cap="1"))
    resealed(folder)


def a_draw_left_out(folder: Path, _strange: Signer) -> None:
    edited(folder, "ledger.json", lambda d: d.update(entries=[e for e in d["entries"] if e["event"]["kind"] != "spend"]))
    resealed(folder)


def another_ledgers_name(folder: Path, _strange: Signer) -> None:
    edited(folder, "ledger.json", lambda d: d.update(ledger="a" * 64))
    resealed(folder)


def a_head_of_another_ledger(folder: Path, _strange: Signer) -> None:
    edited(folder, "ledger.json", lambda d: d["head"].update(ledger="a" * 64))
    resealed(folder)


def a_head_without_its_ledger(folder: Path, _strange: Signer) -> None:
    edited(folder, "ledger.json", lambda d: d["head"].pop("ledger") and None)
    resealed(folder)


def another_time(folder: Path, _strange: Signer) -> None:
    edited(folder, "ledger.json", lambda d: d["entries"][2].update(time="2020-01-01T00:00:00.000000+00:00"))
    resealed(folder)


def called_by_the_old_format(folder: Path, _strange: Signer) -> None:
    """In format 1 less was signed: a release of format 2 cannot be passed off as one."""
    resealed(folder, None, FORMATS[0])


def told_by_the_old_rules(folder: Path, strange: Signer) -> None:
    """An invented ledger of format 1, where draws were not signed, with the publisher's key and commitment in it."""

    def tell(entries: list[Entry]) -> list[dict[str, Any]]:
        found = unsigned(entries, keep=("commit",))
        [key] = found[0].pop("keys")
        found[0].pop("format")
        found[0].pop("nonce")
        commitment = next(event for event in found if event["kind"] == "commit")
        commitment["public"] = commitment.pop("by")
        return [found[0] | {"key": key}, *found[1:]]

    other_values(folder)
    retold(folder, tell)
    resealed(folder, strange, FORMATS[0])


def another_page(folder: Path, _strange: Signer) -> None:
    """The page is the one file that is not computed again: only hash and signature hold it."""
    (folder / "index.html").write_text("<p>trust me</p>")
    resealed(folder)


def another_verifier(folder: Path, _strange: Signer) -> None:
    (folder / "verify_standalone.py").write_text("print('PROVED')\n")
    resealed(folder)


WITHOUT_A_KEY: list[Callable[[Path, Signer], None]] = [
    unsigned_files, unsigned_head, signed_by_a_stranger, commitment_replayed, commitment_replayed_and_signed_by_a_stranger,
    capitals_in_the_signature, capitals_in_the_public_key, spaces_in_the_signature, words_beside_the_signature,
    signature_written_otherwise, manifest_written_otherwise, entries_moved, signatures_of_entries_taken_away,
    everything_signed_by_a_stranger_in_the_publishers_name, a_key_that_the_publisher_never_named, another_budget, a_draw_left_out,
    another_ledgers_name, a_head_of_another_ledger, a_head_without_its_ledger, another_time, called_by_the_old_format,
    told_by_the_old_rules, another_page, another_verifier,
]  # fmt: skip


@pytest.mark.parametrize("with_key", [True, False], ids=["with --key", "without"])
@pytest.mark.parametrize("forgery", WITHOUT_A_KEY, ids=lambda forgery: forgery.__name__)
def test_a_forgery_without_the_key_fails(signed: Town, copy: Path, forgery: Callable[[Path, Signer], None], with_key: bool) -> None:
    key = signed.signer.fingerprint if with_key else None
    assert verify(copy, key).holds
    forgery(copy, Signer.read(signed.folder / "strange.pem"))
    assert failed(verified(copy, key)), forgery.__name__


def test_files_signed_by_a_stranger_where_the_ledger_has_no_key(tmp_path: Path) -> None:
    """The commitment's own signature says who must have signed the rest."""
    town = make_town(tmp_path / "town", signed=False)
    strange = Signer.create(tmp_path / "strange.pem")
    with town.ledger() as book:
        name = commit(town.bundle(), book, town.signer).hash
        with pytest.raises(InputError, match="same publisher"):
            publish(town.bundle(), town.target, book, signer=strange, commitment=name)
        with pytest.raises(InputError, match="same publisher"):
            publish(town.bundle(), town.target, book, commitment=name)
        publish(town.bundle(), town.target, book, signer=town.signer, commitment=name)
    assert verify(town.target).holds and verify(town.target, town.signer.fingerprint).holds
    signed_by_a_stranger(town.target, strange)
    assert failed(verify(town.target)) == ["Commitment, head and files are signed by one publisher"]
    assert failed(verify(town.target, town.signer.fingerprint))


def test_a_release_of_a_strangers_own_ledger_is_the_strangers(signed: Town, tmp_path: Path) -> None:
    """Everything made anew with a key of one's own holds together, and is nobody else's: only --key can tell."""
    folder = tmp_path / "theirs"
    shutil.copytree(signed.folder, folder, ignore=shutil.ignore_patterns("ledger.db*", "release", "key.pem"))
    strange = Signer.read(folder / "strange.pem")
    town = Town(folder)
    with open_ledger(str(folder / "ledger.db"), create=True) as book:
        book.init("pure", strange)
        book.declare("the town", "person", Fraction(5))
        commit(town.bundle(), book, strange)
        publish(town.bundle(), town.target, book, signer=strange)
    verdict = verify(town.target)
    assert verdict.holds and any("not identity" in check.words and check.holds is None for check in verdict.checks)
    assert failed(verify(town.target, signed.signer.fingerprint)) == ["The publisher is the one whose key fingerprint you gave"]


def test_a_ledger_compares_files_not_only_manifests(signed: Town, copy: Path) -> None:
    """The manifest is as recorded, and the table beside it is not."""
    assert changed_since(copy) is None
    other_values(copy)
    found = changed_since(copy)
    assert found is not None and "release.csv" in str(found.found)


def test_an_unsigned_release_says_that_anyone_could_have_made_it(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town", signed=False)
    town.publish()
    verdict = verify(town.target)
    assert verdict.holds
    assert any(check.words.startswith("Nothing here is signed") and check.holds is None for check in verdict.checks)


def test_a_signed_commitment_is_not_published_without_its_key(town: Town) -> None:
    before = town.remaining()
    with pytest.raises(InputError, match="--key"):
        town.publish(signer=None)
    assert town.remaining() == before and town.stages() == []


def test_nothing_of_one_release_serves_another(town: Town, tmp_path: Path) -> None:
    """Two true releases of one publisher: signature, entries, head and tables of the one, in the folder of the other."""
    key = town.signer.fingerprint
    first, second = town.publish(), town.publish(town.folder / "second")
    for number, names in enumerate((
        ("signature.json",), ("ledger.json",), ("ledger.json", "metadata.json"), ("release.csv", "release.parquet", "index.html"),
        ("manifest.json",), ("manifest.json", "signature.json"), ("manifest.json", "signature.json", "ledger.json"),
    )):  # fmt: skip
        for fit in (False, True):
            folder = Path(shutil.copytree(first, tmp_path / f"{number}-{fit}"))
            for name in names:
                shutil.copy(second / name, folder / name)
            if any(contents(folder) == contents(true) for true in (first, second)):
                continue  # two draws may be equal, and then nothing is forged
            if fit and "manifest.json" not in names:
                resealed(folder)
            assert failed(verified(folder, key)), names


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a release."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_signature_for_one_draw_is_none_for_another(town: Town) -> None:
    """What is signed names the ledger, the commitment and the reservation, not only the files."""
    from discreet.publish.folder import document_in, signed_release

    folder = town.publish()
    manifest, ledger = document_in(folder, "manifest.json"), document_in(folder, "ledger.json")
    signed = signed_release(manifest, ledger)
    for name in ("ledger", "commitment", "reservation"):
        assert signed_release(manifest, ledger | {name: "a" * 64}) != signed


def test_there_are_at_least_twenty_forgeries() -> None:
    assert len(WITHOUT_A_KEY) >= 20 and len(set(WITHOUT_A_KEY)) == len(WITHOUT_A_KEY)
