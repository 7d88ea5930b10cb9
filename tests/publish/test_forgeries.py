"""Forgeries by someone who has everything public and no key: each is refused, or named under one of the four headings."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from forging import edited, failed, other_values, replayed, resealed, retold
from towns import Town, make_town

from discreet.errors import InputError
from discreet.ledger import Signer, open_ledger
from discreet.publish import commit, publish, verify
from discreet.publish.folder import SIGNATURE, changed_since
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


WITHOUT_A_KEY: list[Callable[[Path, Signer], None]] = [
    unsigned_files, unsigned_head, signed_by_a_stranger, commitment_replayed, commitment_replayed_and_signed_by_a_stranger,
    capitals_in_the_signature, capitals_in_the_public_key, spaces_in_the_signature, words_beside_the_signature,
    signature_written_otherwise, manifest_written_otherwise,
]  # fmt: skip


@pytest.mark.parametrize("with_key", [True, False], ids=["with --key", "without"])
@pytest.mark.parametrize("forgery", WITHOUT_A_KEY, ids=lambda forgery: forgery.__name__)
def test_a_forgery_without_the_key_fails(
    signed: Town, copy: Path, forgery: Callable[[Path, Signer], None], with_key: bool
) -> None:
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
    assert failed(verify(town.target, signed.signer.fingerprint)) == [
        "The publisher is the one whose key fingerprint you gave"
    ]


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
