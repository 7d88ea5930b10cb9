"""`verify` from the folder alone: what it enforces, what signatures add, and that every kind of forgery is found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forging import edited, failed, other_values, resealed, retold, unsigned
from towns import Town, make_town, town_mechanism

from discreet import files
from discreet.errors import InputError
from discreet.ledger import Signer
from discreet.ledger.chain import Entry
from discreet.ledger.trust import Trust
from discreet.publish import commit, publish, verify
from discreet.publish.verdict import ATTESTED, DETECTABLE, ENFORCED, NOT_VERIFIABLE
from discreet.publish.verification import verified


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Town:
    town = make_town(tmp_path_factory.mktemp("verify") / "town")
    town.publish(signer=town.signer)
    return town


@pytest.fixture
def copy(signed: Town, tmp_path: Path) -> Path:
    return Path(shutil.copytree(signed.target, tmp_path / "release"))


def test_an_honest_release_holds_in_all_four_classes(signed: Town) -> None:
    verdict = verify(signed.target, signed.signer.fingerprint)
    assert verdict.holds, failed(verdict)
    assert {check.kind for check in verdict.checks} == {ENFORCED, ATTESTED, DETECTABLE, NOT_VERIFIABLE}
    assert all(check.holds is True for check in verdict.checks if check.kind in (ENFORCED, ATTESTED))
    assert all(check.holds is None for check in verdict.checks if check.kind in (DETECTABLE, NOT_VERIFIABLE))


def test_without_a_key_identity_is_not_shown_and_with_another_it_fails(signed: Town) -> None:
    assert any("integrity, not identity" in c.words and c.holds is None for c in verify(signed.target).checks)
    verdict = verify(signed.target, "0" * 64)
    assert failed(verdict) == ["The publisher is the one whose key fingerprint you gave"]


def test_an_unsigned_release_says_so(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town", signed=False)
    town.publish()
    verdict = verify(town.target)
    assert verdict.holds and any("not signed" in check.found for check in verdict.checks)
    assert not verify(town.target, town.signer.fingerprint).holds


def test_every_file_is_watched(signed: Town, tmp_path: Path) -> None:
    for path in sorted(signed.target.iterdir()):
        folder = Path(shutil.copytree(signed.target, tmp_path / path.name))
        data = (folder / path.name).read_bytes()
        (folder / path.name).write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        assert not verified(folder).holds, path.name
        (folder / path.name).unlink()
        assert not verified(folder).holds, path.name


def test_a_file_more_is_noticed(copy: Path) -> None:
    (copy / "truth.csv").write_text("s0,2\n")
    assert failed(verify(copy)) == ["The folder holds nothing else"]


FORGERIES: dict[str, tuple[Callable[[Path], None], str]] = {
    "values that were not drawn": (other_values, "as the publisher signed"),
    "an action that the output does not recommend": (
        lambda f: (f / "release.csv").write_text((f / "release.csv").read_text().replace(",4,", ",4,4,9,", 1)) and None,
        "Both tables",
    ),
    "one column more": (
        lambda f: (f / "release.csv").write_text(
            "".join(f"{line},{i}\n" for i, line in enumerate((f / "release.csv").read_text().splitlines()))
        ) and None,
        "Both tables",
    ),
    "another plan": (lambda f: edited(f, "plan.json", lambda d: d.update(dataset="other")), "The plan is"),
    "another key set": (
        lambda f: (f / "key_set.csv").write_text((f / "key_set.csv").read_text().replace("s1", "s7")) and None,
        "The key set is",
    ),
    "another mechanism": (
        lambda f: files.write_mechanism(f / "mechanism.json", town_mechanism(epsilon="2")) and None,
        "The mechanism is",
    ),
    "a promise that sounds better": (
        lambda f: edited(f, "facts.json", lambda d: d["privacy_loss"].update(epsilon="1/10")),
        "The metadata",
    ),
    "proofs of something else": (
        lambda f: edited(f, "certificates.json", lambda d: d["4"].update(mechanism="0" * 64)),
        "The proofs",
    ),
    "an entry changed": (
        lambda f: edited(f, "ledger.json", lambda d: d["entries"][-1].update(time="2020")),
        "In ledger order",
    ),
    "a draw left out": (
        lambda f: edited(f, "ledger.json", lambda d: d.update(entries=d["entries"][:-1])),
        "In ledger order",
    ),
    "no commitment": (
        lambda f: edited(f, "ledger.json", lambda d: d.update(commitment="0" * 64)),
        "The commitment is",
    ),
    "another head": (
        lambda f: edited(f, "ledger.json", lambda d: d["head"].update(hash="0" * 64)),
        "The head",
    ),
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forgeries_with_a_fitting_manifest_are_found(copy: Path, forgery: str) -> None:
    change, words = FORGERIES[forgery]
    change(copy)
    resealed(copy)
    found = failed(verified(copy))
    assert any(text.startswith(words) or words in text for text in found), found
    assert any("as the publisher signed" in text for text in found), "no forgery keeps the signature"


def test_a_cheaper_commitment_does_not_fit_its_mechanism(copy: Path) -> None:
    """A chain made anew with a smaller cost: hashes fit, signatures removed; the cost is computed again and differs."""

    def cheaper(entries: list[Entry]) -> list[dict[str, Any]]:
        events = unsigned(entries)
        next(e for e in events if e["kind"] == "commit")["cost"] = {"epsilon": "1/100", "rho": "1/20000"}
        return events

    retold(copy, cheaper)
    resealed(copy)
    (copy / "signature.json").unlink()
    assert any(words.startswith("The cost in the ledger") for words in failed(verified(copy)))


@pytest.mark.parametrize("junk", ["[]", "{}", "null", '{"entries": 3}', '{"entries": [3], "head": {}}', "{", '"x"'])
@pytest.mark.parametrize("name", ["ledger.json", "manifest.json", "plan.json", "mechanism.json", "metadata.json", "signature.json"])
def test_junk_is_a_failed_check_not_a_crash(copy: Path, name: str, junk: str) -> None:
    (copy / name).write_text(junk)
    if name != "manifest.json":
        resealed(copy)
    assert not verified(copy).holds


def test_keys_rotate_and_a_revoked_one_convinces_nobody(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    old, new = town.signer, Signer.create(town.folder / "new.pem")
    first = town.publish(signer=old)
    with town.ledger() as book:
        book.rotate(old, new.public)
        book.revoke(old.fingerprint, new)
        with pytest.raises(InputError, match="revoked"):
            commit(town.bundle(), book, old)
        with pytest.raises(InputError, match="revoked"):
            publish(town.bundle(), town.folder / "by the old key", book, signer=old)
        second = publish(town.bundle(), town.folder / "second", book, signer=new)
        newest = commit(town.bundle(), book, new).hash
        third = publish(town.bundle(), town.folder / "third", book, signer=new, commitment=newest)
        assert book.verify() is None
    assert verify(first, old.fingerprint).holds, "signed before the revocation"
    assert verify(second, old.fingerprint).holds, "committed before, drawn after, head by the new key"
    assert verify(third, new.fingerprint).holds
    assert not verify(third, old.fingerprint).holds


def test_a_commitment_forged_with_a_revoked_key_is_refuted_by_ledger_and_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone who stole the old key writes to the store without asking: the same commitment after the revocation."""
    town = make_town(tmp_path / "town")
    old, new = town.signer, Signer.create(town.folder / "new.pem")
    with town.ledger() as book:
        book.rotate(old, new.public)
        book.revoke(old.fingerprint, new)
        with monkeypatch.context() as thief:
            thief.setattr(Trust, "must_trust", lambda *_: None)
            thief.setattr(Trust, "named_from", lambda _self, digest: {digest})
            stolen = commit(town.bundle(), book, old).hash
            folder = publish(town.bundle(), town.target, book, signer=old, commitment=stolen)
        assert book.verify() is not None
    found = failed(verify(folder))
    assert "The ledger trusted the commitment's key when it signed" in found
    assert "The ledger trusted the release's key when it signed" in found


BASE_ONLY = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pyspark", "psycopg", "pandas", "polars", "pyarrow", "py4j"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
from discreet.cli.main import main
sys.argv = ["discreet", *sys.argv[1:]]
main()
"""


def test_the_base_install_designs_commits_publishes_and_verifies(tmp_path: Path) -> None:
    town = make_town(tmp_path / "town")
    (town.folder / "yes.mechanism.json").unlink()
    (town.folder / "ledger.db").unlink()
    (town.folder / "yes.toml").write_text(
        '[data]\nrespondents = 4\nvalues = [0, 1]\n[prior]\nkind = "iid"\nprobabilities = [0.7, 0.3]\n[statistic]\nkind = "sum"\n'
        '[decision]\nkind = "squared-error"\nactions = "integer"\n[privacy]\nepsilon = 1\nunit = "person"\n'
    )
    for line in (
        ["design", "yes.toml", "-o", "yes.mechanism.json"],
        ["ledger", "init", "ledger.db", "--population", "the town", "--unit", "person", "--budget", "2", "--key", "key.pem"],
        ["commit", "plan.toml", "--key", "key.pem"],
        ["publish", "plan.toml", "-o", "release", "--key", "key.pem"],
        ["verify", "release", "--key", town.signer.fingerprint],
    ):
        done = subprocess.run(
            [sys.executable, "-c", BASE_ONLY, *line], cwd=town.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stdout, done.stderr)


def test_the_verifier_in_the_folder_needs_nothing_else(signed: Town) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "verify_standalone.py", "mechanism.json"],
        cwd=signed.target, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.startswith("PROVED"), done.stdout + done.stderr
    bundle_hash = files.mechanism_hash(town_mechanism())
    assert bundle_hash in done.stdout
