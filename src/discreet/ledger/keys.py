"""Ed25519 keys that sign a ledger's entries, its heads and releases. A signature says who; a key carried beside what it signs
only says unchanged.

A `Signer` is whatever can sign: a key file, a key in a PKCS#11 token, or one that an agent holds. The fingerprint is the
SHA-256 of the raw public key. What is signed is the canonical form of a document that says what it is.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from discreet.files.canonical import canonical_bytes


class Signer(ABC):
    """The private half of a key, wherever it lives."""

    @property
    @abstractmethod
    def public(self) -> str:
        """The raw public key in hexadecimal."""

    @abstractmethod
    def signature(self, data: bytes) -> bytes:
        """The 64 bytes of the Ed25519 signature of some bytes."""

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the public key."""
        return fingerprint(self.public)

    def sign(self, document: Any) -> str:
        """The signature of a document's canonical form, in hexadecimal."""
        return self.signature(canonical_bytes(document)).hex()

    @staticmethod
    def create(path: str | Path) -> Signer:
        """Make a new key file, readable by its owner alone; never overwrites one."""
        from discreet.ledger.key_file import KeyFile

        return KeyFile.create(path)

    @staticmethod
    def read(place: str | Path) -> Signer:
        """The key at a place: a file, a token (`pkcs11:…`, RFC 7512) or an agent (`agent:FINGERPRINT`)."""
        named = str(place)
        if named.startswith("pkcs11:"):
            from discreet.ledger.key_token import KeyInToken

            return KeyInToken.at(named)
        if named.startswith("agent:"):
            from discreet.ledger.key_agent import KeyInAgent

            return KeyInAgent.at(named)
        from discreet.ledger.key_file import KeyFile

        return KeyFile.read(place)


def fingerprint(public: str) -> str:
    """How people compare keys: the SHA-256 of the raw public key."""
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()


def signature_holds(public: str, document: Any, signature: str) -> bool:
    """Whether the signature of a document's canonical form was made with the private half of `public`."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not (is_public(public) and _is_hexadecimal(signature, 64)):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), canonical_bytes(document))
    except (InvalidSignature, ValueError):
        return False
    return True


def is_public(text: str) -> bool:
    """Whether a text is a raw public key in hexadecimal."""
    return _is_hexadecimal(text, 32)


def _is_hexadecimal(text: str, size: int) -> bool:
    """Whether a text is the one way to write so many bytes: capitals and spaces would be a second signature of one thing."""
    return len(text) == 2 * size and set(text) <= set("0123456789abcdef")
