"""Evidence stays readable: releases and a ledger of format 1 are verified as they were, and are as hard to forge as new ones."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from forging import edited, failed, other_values, resealed

from discreet.ledger import Signer
from discreet.publish import verify
from discreet.publish.folder import FORMATS, SIGNATURE
from discreet.publish.verification import verified

FIRST, SECOND, BATCH = (
    "798ff76ed7c41e531c856caa242ae16b625ec22dfae5dc0b2342eef9d4455b18",
    "98fea8b4448e38ce9582e42f7b79122b0b29accb84f69800dad33d4c35fbbf41",
    "0be245c79bc2f1f0a9425ac2060bcd4df8c044d462d42a5e3f72cbf6c81a1c06",
)


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    with zipfile.ZipFile(Path(__file__).parent / "evidence" / "format-1.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "key"), [("release", FIRST), ("second", FIRST), ("of-a-batch", BATCH)])
def test_a_release_of_format_1_holds_with_and_without_its_key(evidence: Path, name: str, key: str) -> None:
    """The second was committed by the first key and signed by one that it named."""
    for given in (None, key, key.upper()):
        verdict = verify(evidence / name, given)
        assert verdict.holds, failed(verdict)
    assert failed(verify(evidence / name, SECOND)) == ["The publisher is the one whose key fingerprint you gave"]


def test_a_release_of_format_1_is_forged_as_hardly_as_a_new_one(evidence: Path) -> None:
    strange = Signer.create(evidence / "strange.pem")
    for number, forge in enumerate(("stripped", "re-signed", "called new")):
        folder = Path(shutil.copytree(evidence / "release", evidence / str(number)))
        other_values(folder)
        if forge == "stripped":
            (folder / SIGNATURE).unlink()
        resealed(folder, strange if forge == "re-signed" else None, FORMATS[forge == "called new"])
        for key in (None, FIRST):
            assert failed(verified(folder, key)), forge


def test_a_signature_of_format_1_says_nothing_about_format_2(evidence: Path) -> None:
    """The same files, the same signature, called by the new name: what is signed says what it is."""
    edited(evidence / "release", "manifest.json", lambda d: d.update(format=FORMATS[1]))
    assert failed(verified(evidence / "release", FIRST))


def test_a_format_that_is_not_known_is_told(evidence: Path) -> None:
    edited(evidence / "release", "manifest.json", lambda d: d.update(format="discreet-release/3"))
    found = verified(evidence / "release")
    assert not found.holds and "newer version" in found.checks[0].found
