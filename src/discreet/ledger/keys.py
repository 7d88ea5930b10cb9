"""Ed25519 keys that sign heads and commitments. A signature says who; a key carried beside what it signs only says unchanged.

The private key is a PEM file that only its owner may read. The fingerprint is the SHA-256 of the raw public key.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.files.atomic import read_bytes, sync_folder
from discreet.files.canonical import canonical_bytes
from discreet.ledger.chain import Entry

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, eq=False)
class Signer:
    """A private key in memory."""

    key: Ed25519PrivateKey

    @classmethod
    def create(cls, path: str | Path) -> Signer:
        """Make a new key file, readable by its owner alone; never overwrites one."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.generate()
        data = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        target = Path(path)
        try:
            handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            sync_folder(target.parent)
        except OSError as error:
            raise InputError(
                "The key file could not be made",
                found=f"{target}: {error.strerror}",
                allowed="a new file in a folder that exists",
                remedy="choose another place; keys are never overwritten",
            ) from None
        return cls(key)

    @classmethod
    def read(cls, path: str | Path) -> Signer:
        """The key in a file that nobody else can read."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        target = Path(path)
        data = read_bytes(target, "the key file")
        if stat.S_IMODE(target.stat().st_mode) & 0o077:
            raise InputError(
                "The key file can be read by others",
                found=f"mode {stat.S_IMODE(target.stat().st_mode):o}",
                allowed="mode 600",
                remedy=f"run: chmod 600 {target}; if others may have read it, rotate the key",
            )
        try:
            key = serialization.load_pem_private_key(data, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise _no_key() from None
        if not isinstance(key, Ed25519PrivateKey):
            raise _no_key()
        return cls(key)

    @property
    def public(self) -> str:
        """The raw public key in hexadecimal."""
        from cryptography.hazmat.primitives import serialization

        raw = self.key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return raw.hex()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the public key."""
        return fingerprint(self.public)

    def sign(self, document: Any) -> str:
        """The signature of a document's canonical form, in hexadecimal."""
        return self.key.sign(canonical_bytes(document)).hex()


def _no_key() -> InputError:
    return InputError(
        "The key file holds no Ed25519 key",
        found="something else",
        allowed="a PEM file made by discreet",
        remedy="make one with: discreet ledger init",
    )


def fingerprint(public: str) -> str:
    """How people compare keys: the SHA-256 of the raw public key."""
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()


def signature_holds(public: str, document: Any, signature: str) -> bool:
    """Whether the signature of a document's canonical form was made with the private half of `public`."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not (_is_hexadecimal(public, 32) and _is_hexadecimal(signature, 64)):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(
            bytes.fromhex(signature), canonical_bytes(document)
        )
    except (InvalidSignature, ValueError):
        return False
    return True


def _is_hexadecimal(text: str, size: int) -> bool:
    """Whether a text is the one way to write so many bytes: capitals and spaces would be a second signature of one thing."""
    return len(text) == 2 * size and set(text) <= set("0123456789abcdef")


def commitment_signature(event: Mapping[str, Any]) -> bool | None:
    """Whether a commitment's signature holds; None when it has none."""
    if event.get("public") is None and event.get("signature") is None:
        return None
    unsigned = {key: value for key, value in event.items() if key not in ("public", "signature")}
    return signature_holds(str(event.get("public", "")), unsigned, str(event.get("signature", "")))


def naming_signature(event: Mapping[str, Any]) -> bool:
    """Whether an event that names or revokes a key was signed by the key that it says."""
    unsigned = {key: value for key, value in event.items() if key != "signature"}
    return signature_holds(str(event.get("by", "")), unsigned, str(event.get("signature", "")))


def named_from(digest: str, entries: Iterable[Entry]) -> set[str]:
    """A key and all that it named, directly or through others that it named, and that nobody trusted has revoked."""
    chain = list(entries)
    found = {digest}
    _, revoked = trust_after(chain)
    for entry in chain:
        event = entry.event
        if event["kind"] == "key" and fingerprint(str(event["by"])) in found and naming_signature(event):
            found.add(fingerprint(str(event["public"])))
    return found - revoked


def trust_after(entries: Iterable[Entry]) -> tuple[set[str], set[str]]:
    """Fingerprints that a chain of init, key and revoke entries names, and those that it revokes, each by a trusted key."""
    keys: set[str] = set()
    revoked: set[str] = set()
    for entry in entries:
        event = entry.event
        if event["kind"] == "init" and "key" in event:
            keys.add(fingerprint(str(event["key"])))
        if event["kind"] not in ("key", "revoke"):
            continue
        if fingerprint(str(event["by"])) in keys - revoked and naming_signature(event):
            if event["kind"] == "key":
                keys.add(fingerprint(str(event["public"])))
            else:
                revoked.add(str(event["fingerprint"]))
    return keys, revoked
