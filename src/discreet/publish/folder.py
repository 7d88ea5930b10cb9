"""The release folder: tables, mechanism, certificates, plan, ledger entries, metadata, a page for readers, a verifier.

release.csv, release.parquet      one line for each cell
mechanism.json                    the mechanism or family, exactly as committed; mechanism.json.gz when it is large
certificates.json                 the privacy proof of each mechanism in use
certificate.json                  the designer's certificate as committed, if there was one
plan.json, key_set.csv            what was committed
learned.json                      the release that the prior was learned from, whole, when it was learned
ledger.json                       the commitment, every draw on it, the head of the chain, signed or not
facts.json                        the promise and how it was made, every number exact
metadata.json                     the same in the fields of the public registry of deployments
index.html                        what the table is and how to read a value, for people
verify_standalone.py              proves privacy from mechanism.json without this software
verify.html                       the same in a browser, offline: drop the folder on it
manifest.json                     the hash of each file; its own hash is what the ledger records
signature.json                    the publisher's signature of the manifest's hash, when a key was given
"""

from __future__ import annotations

import hashlib
import importlib.resources
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.engines.writer import write_parquet
from discreet.errors import InputError, TooLarge
from discreet.files.atomic import read_bytes, sync_folder, write_atomically
from discreet.files.bulk import in_bulk
from discreet.files.canonical import canonical_bytes, document_hash, parse_json
from discreet.files.certificate import certificate_document
from discreet.files.plan import key_set_from_text, key_set_text, plan_document, plan_from_document
from discreet.files.strata import Served
from discreet.files.zipped import ENDING, zipped
from discreet.ledger.heads import Head
from discreet.ledger.keys import Signer
from discreet.model.certificate import Certificate, Counterexample
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan
from discreet.numerics.arrays import Integers
from discreet.publish.bundle import Bundle, members_of, named
from discreet.publish.facts import release_facts
from discreet.publish.learned import LEARNED, packed_in
from discreet.publish.metadata import metadata, metadata_bytes
from discreet.publish.page import page
from discreet.publish.spreadsheets import csv_text, disarmed, rearmed
from discreet.publish.tables import columns_of, csv_bytes

MECHANISM = "mechanism.json"
MANIFEST = "manifest.json"
SIGNATURE = "signature.json"
FACTS, METADATA = "facts.json", "metadata.json"
STANDALONE = "verify_standalone.py"
IN_BROWSER = "verify.html"
LARGEST_FILE = 1 << 32
LARGEST = {MANIFEST: 1 << 20, SIGNATURE: 1 << 16, FACTS: 1 << 20, METADATA: 1 << 20, "plan.json": 1 << 24, "ledger.json": 1 << 28}
"""Bytes up to which a file of a release is opened."""
FORMATS = ("discreet-release/1", "discreet-release/2")
"""Formats that can be read; the last one is written."""


def write_folder(
    folder: Path,
    bundle: Bundle,
    proofs: Mapping[Served, Certificate],
    positions: Integers,
    ledger: Mapping[str, Any],
    attested_counts: bool,
    signer: Signer | None = None,
) -> str:
    """Write every file of a release and return the manifest's hash."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise InputError(
            "The release folder cannot be made",
            found=f"{folder.parent}: {error.strerror}",
            allowed="a folder that can be written to and has room",
            remedy="free some room or choose another place, then run the same command again: the draws are kept",
        ) from None
    columns = columns_of(bundle.cells, bundle.used, positions, served=bundle.served, meant=bundle.asked is None)
    facts = release_facts(bundle, ledger, attested_counts)
    files: dict[str, bytes] = {
        "release.csv": csv_bytes(columns),
        MECHANISM: canonical_bytes(bundle.mechanism_document) + b"\n",
        "certificates.json": canonical_bytes({named(kind): certificate_document(proof) for kind, proof in proofs.items()}) + b"\n",
        "plan.json": canonical_bytes(plan_document(bundle.written)) + b"\n",
        "key_set.csv": key_set_bytes(bundle.key_set, bundle.plan.size_column),
        "ledger.json": canonical_bytes(dict(ledger)) + b"\n",
        FACTS: canonical_bytes(facts) + b"\n",
        METADATA: metadata_bytes(metadata(facts, bundle, ledger)),
        "index.html": page(bundle, facts, columns).encode(),
        STANDALONE: standalone_verifier(),
        IN_BROWSER: standalone_verifier(IN_BROWSER),
    }
    if bundle.certificate_document is not None:
        files["certificate.json"] = canonical_bytes(bundle.certificate_document) + b"\n"
    if bundle.learned is not None:
        files[LEARNED] = bundle.learned.packed()
    if (small := zipped(files[MECHANISM])) is not None:
        del files[MECHANISM]
        files[MECHANISM + ENDING] = small
    for name, data in files.items():
        write_atomically(folder / name, data)
    write_parquet(folder / "release.parquet", columns)
    manifest = {name: file_hash(folder / name) for name in sorted([*files, "release.parquet"])}
    document = {"format": FORMATS[-1], "files": manifest}
    write_atomically(folder / MANIFEST, canonical_bytes(document) + b"\n")
    digest = document_hash(document)
    if signer is not None:
        signed = {"public": signer.public, "signature": signer.sign(signed_release(document, ledger))}
        write_atomically(folder / SIGNATURE, canonical_bytes(signed) + b"\n")
    sync_folder(folder)
    return digest


def signed_release(manifest: Mapping[str, Any], ledger: Mapping[str, Any]) -> dict[str, str]:
    """What a publisher signs: the manifest's hash, and which draw of which ledger it is; in format 1 the hash alone."""
    digest = document_hash(manifest)
    if manifest["format"] == FORMATS[0]:
        return {"release": digest}
    place = {name: str(ledger[name]) for name in ("ledger", "commitment", "reservation")}
    return {"discreet": "release/2", "manifest": digest} | place


def standalone_verifier(name: str = STANDALONE) -> bytes:
    """The text of the verifier that needs nothing but Python, or of the one that needs nothing but a browser."""
    return importlib.resources.files("discreet").joinpath(name).read_bytes()


@in_bulk()
def key_set_bytes(key_set: KeySet, size_column: str) -> bytes:
    """The key set as CSV, disarmed; `read_key_set` reads it back once it is rearmed."""
    keys = [[disarmed(cell[i]) for cell in key_set.cells] for i in range(len(key_set.columns))]
    header = list(map(disarmed, [*key_set.columns, size_column]))
    return csv_text(header, [*keys, list(map(str, key_set.sizes))]).encode()


def key_set_in(folder: Path, plan: Plan) -> KeySet:
    """The cells that a release lists; in format 1 they were not disarmed."""
    must_be_readable(folder / "key_set.csv")
    text = key_set_text(folder / "key_set.csv")
    return key_set_from_text(text if release_format(folder) == 1 else rearmed(text), plan)


def bundle_in(folder: Path) -> Bundle:
    """What a release folder says was committed."""
    plan = plan_from_document(document_in(folder, "plan.json"))
    document = document_in(folder, MECHANISM)
    certificate = document_in(folder, "certificate.json") if (folder / "certificate.json").exists() else None
    return Bundle(plan, plan, key_set_in(folder, plan), members_of(document), document, certificate, learned=packed_in(folder))


def release_format(folder: Path) -> int:
    """Which format a release says it has: 1 or 2."""
    stated = document_in(folder, MANIFEST)
    found = stated.get("format") if isinstance(stated, dict) else None
    if found not in FORMATS:
        raise InputError(
            "This release has a format that is not known here",
            found=str(found),
            allowed=FORMATS,
            remedy="it may be made by a newer version: update discreet",
        )
    return FORMATS.index(str(found)) + 1


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def document_in(folder: Path, name: str) -> Any:
    """A JSON document of a release folder; one that is absurdly large is not opened."""
    place = mechanism_in(folder) if name == MECHANISM else folder / name
    must_be_readable(place)
    return parse_json(read_bytes(place, name), name)


def mechanism_in(folder: Path) -> Path:
    """The file of a release that holds its mechanism, zipped or not; two of them would be two stories."""
    plain, small = folder / MECHANISM, folder / (MECHANISM + ENDING)
    if os.path.lexists(plain) and os.path.lexists(small):
        raise InputError(
            "The release holds its mechanism twice",
            found=f"{plain.name} and {small.name}",
            allowed="one of them",
            remedy="it may have been tampered with: get the release again",
        )
    return small if os.path.lexists(small) else plain


def must_be_readable(path: Path) -> None:
    """Refuse what is no file, or larger than any that discreet writes, before it is opened: a pipe would never end."""
    most = LARGEST.get(path.name, LARGEST_FILE)
    if not path.is_file():
        raise InputError(
            f"{path.name} could not be read",
            found=str(path),
            allowed="a file that exists and can be read",
            remedy="check that this is a release folder",
        )
    if path.stat().st_size > most:
        raise TooLarge(
            f"the file {path.name} of a release",
            size=f"{path.stat().st_size:,} bytes",
            fits=f"{most:,} bytes",
            remedy="check that this is a release folder",
        )


def altered(folder: Path) -> tuple[list[str], list[str]]:
    """Files that are not as the manifest says, and what the folder holds beside them.

    Manifest and signature, which no hash covers, have one way of being written.
    """
    listed = document_in(folder, MANIFEST)
    listed = listed.get("files") if isinstance(listed, dict) else None
    if not isinstance(listed, dict):
        raise InputError(
            "The manifest lists no files",
            found="another document",
            allowed="a release's manifest.json",
            remedy="check that this is a release folder",
        )
    wrong = [
        name
        for name, digest in listed.items()
        if Path(name).name != name or not (folder / name).is_file() or _hash(folder / name) != digest
    ]
    for name in (MANIFEST, SIGNATURE):
        if name == SIGNATURE and not os.path.lexists(folder / name):
            continue
        if canonical_bytes(document_in(folder, name)) + b"\n" != (folder / name).read_bytes():
            wrong.append(name)
    return wrong, sorted({path.name for path in folder.iterdir()} - set(listed) - {MANIFEST, SIGNATURE})


def _hash(path: Path) -> str:
    must_be_readable(path)
    return file_hash(path)


def changed_since(folder: Path) -> Counterexample | None:
    """A release some of whose files are not those of its manifest, however well the manifest fits the ledger's record."""
    wrong, extra = altered(folder)
    if not wrong and not extra:
        return None
    words = f"Files of the release {folder} are not as its manifest says"
    return Counterexample("release", words, found=", ".join([*wrong, *extra]), allowed="the files that were published")


def carried(folder: Path) -> tuple[Head, str, str]:
    """The head that a release carries, its reservation and its manifest's hash: what a ledger is compared with."""
    try:
        ledger = document_in(folder, "ledger.json")
        head = Head.from_document(ledger["head"])
        return head, str(ledger["reservation"]), document_hash(document_in(folder, MANIFEST))
    except (KeyError, TypeError, ValueError):
        raise InputError(
            "The ledger entries of this release cannot be read",
            found=str(folder),
            allowed="a release folder",
            remedy="check the path",
        ) from None
