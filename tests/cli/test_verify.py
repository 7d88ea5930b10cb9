"""`discreet verify`: four classes, keys, and exit code 1 when anything that can be checked is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import Town, discreet, make_town, read


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    made = make_town(tmp_path_factory.mktemp("verify") / "town")
    made.publish(signer=made.signer)
    return made


def test_the_four_classes_are_printed(town: Town) -> None:
    done = discreet(town.folder, "verify", "release")
    assert done.returncode == 0
    for heading in ("Enforced", "Attested by signature", "Detectable with externally kept heads", "Not verifiable"):
        assert heading in done.stdout.splitlines()
    assert "proves integrity, not identity" in done.stdout


def test_the_publishers_key_is_recognised_and_no_other(town: Town) -> None:
    assert read(town.folder, "verify", "release", "--key", town.signer.fingerprint)["holds"] is True
    done = discreet(town.folder, "verify", "release", "--key", "f" * 64)
    assert done.returncode == 1 and "FAILS" in done.stdout


def test_a_changed_file_fails(town: Town, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(town.target, tmp_path / "copy"))
    (copy / "index.html").write_text("trust me")
    done = discreet(tmp_path, "verify", "copy")
    assert done.returncode == 1 and "index.html" in done.stdout


def test_what_is_no_release_fails_in_words(tmp_path: Path) -> None:
    done = discreet(tmp_path, "verify", ".")
    assert done.returncode == 1 and "can be read as a release" in done.stdout
