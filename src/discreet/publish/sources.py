"""Which files a commitment is about: their names in the open, their sizes and hashes, when asked for, under seal.

The names of the source's files stand in the commitment, and publishing refuses a source that has others. A size or a hash is a
function of the records, so neither may stand in a public entry, nor may publishing stop because one changed while the data is
still growing. Whoever wants them bound *freezes* the source: sizes and SHA-256 of all files go into a private file beside the
plan, and the commitment holds

    seal = SHA-256(salt ‖ canonical list of name, size, sha256),   salt of 32 random bytes in the private file alone.

The seal tells nothing without the salt, as far as SHA-256 hides what it hashes; it binds the publisher, and can be shown to an
auditor together with the private file. A frozen source that changed is refused.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.engines.sources import SourceFile, source_files
from discreet.errors import InputError
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_bytes, document_hash, parse_json
from discreet.model.plan import Source

FORMAT = "discreet-frozen-source/1"
MOST_NAMED = 50
"""Files whose names a commitment lists; of more it holds how many and the hash of their names."""


def attested_files(source: Source) -> dict[str, str]:
    """What a commitment says about the files of a source; nothing while they are not there, or where there are none."""
    if not Path(source.location).exists():
        return {}
    files = source_files(source)
    return {"source_files": _named([file.name for file in files])} if files else {}


def freeze(source: Source, private: Path) -> dict[str, str]:
    """Write the private list of sizes and hashes, and return the seal for the commitment."""
    files = source_files(source)
    if not files:
        raise InputError(
            "Only files can be frozen",
            found=f"source.kind = {source.kind!r}",
            allowed="parquet, csv or duckdb",
            remedy="export the rows to a file, or commit without --freeze",
        )
    record = {"format": FORMAT, "salt": secrets.token_hex(32), "files": [_hashed(file) for file in files]}
    held = _held(private) if private.exists() else []
    write_atomically(private, canonical_bytes([*held, record]))
    private.chmod(0o600)
    return {"source_seal": seal(record)}


def seal(record: Mapping[str, Any]) -> str:
    """The seal of a private list."""
    return hashlib.sha256(bytes.fromhex(record["salt"]) + canonical_bytes(record["files"])).hexdigest()


def must_be_committed(source: Source, attested: Mapping[str, str], private: Path | None) -> None:
    """Refuse a source with other files than the commitment names, or one that was frozen and has changed."""
    named = attested.get("source_files")
    if named is None:
        return
    files = source_files(source)
    found = _named([file.name for file in files])
    if found != named:
        raise InputError(
            "The source has other files than the commitment names",
            found=found,
            allowed=named,
            remedy="put back what was committed, or commit again",
        )
    wanted = attested.get("source_seal")
    if wanted is None:
        return
    held = _held(private) if private is not None and private.exists() else []
    record = next((record for record in held if seal(record) == wanted), None)
    if record is None:
        raise InputError(
            "The private list of the frozen source is missing",
            found=f"no list with this seal in {private}",
            allowed="the file that `discreet commit --freeze` wrote beside the plan",
            remedy="put it back, or commit again",
        )
    if [_hashed(file) for file in files] != record["files"]:
        raise InputError(
            "The source was frozen with the commitment and has changed since",
            found="other sizes or hashes",
            allowed="the same bytes",
            remedy="put back what was committed, or commit again",
        )


def private_list(plan: Path) -> Path:
    """Where the private list of a plan lies."""
    return plan.with_name(f"{plan.stem}.frozen.json")


def _named(names: Sequence[str]) -> str:
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{len(names)} files, their names hashed: {document_hash(list(names))}"


def _hashed(file: SourceFile) -> dict[str, Any]:
    try:
        with file.path.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            return {"name": file.name, "size": size, "sha256": hashlib.file_digest(opened, "sha256").hexdigest()}
    except OSError as error:
        raise InputError(
            "A file of the source cannot be read",
            found=f"{file.path}: {error.strerror}",
            allowed="files that this user may read",
            remedy="check its permissions",
        ) from None


def _held(private: Path) -> list[dict[str, Any]]:
    document = parse_json(read_bytes(private, "the private list of a frozen source"), "the private list of a frozen source")
    if isinstance(document, list) and all(isinstance(one, dict) and one.get("format") == FORMAT for one in document):
        return document
    raise InputError(
        "The private list of a frozen source is not one",
        found=str(private),
        allowed=f"a list in the format {FORMAT}",
        remedy="put back what `discreet commit --freeze` wrote",
    )
