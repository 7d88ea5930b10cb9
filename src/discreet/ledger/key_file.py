"""A key in a file: PEM, unencrypted, readable by its owner alone."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.files.atomic import read_bytes, sync_folder
from discreet.ledger.keys import Signer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, eq=False)
class KeyFile(Signer):
    """A private key in memory, from a file."""

    key: Ed25519PrivateKey

    @classmethod
    def create(cls, path: str | Path) -> KeyFile:
        """Make a new key file, readable by its owner alone; never overwrites one."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.generate()
        data = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
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
    def read(cls, path: str | Path) -> KeyFile:
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

    def signature(self, data: bytes) -> bytes:
        """The signature of some bytes."""
        return self.key.sign(data)


def _no_key() -> InputError:
    return InputError(
        "The key file holds no Ed25519 key",
        found="something else",
        allowed="a PEM file made by discreet",
        remedy="make one with: discreet ledger init",
    )
