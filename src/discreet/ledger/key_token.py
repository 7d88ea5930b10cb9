"""A key in a PKCS#11 token: a smart card, a hardware module, or SoftHSM. It signs there and never leaves.

Tokens are named as in RFC 7512, which most software that uses tokens understands:

    pkcs11:token=office;object=publisher?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/run/keys/pin

The PIN is in the file `pin-source`, in the environment variable DISCREET_PIN, or asked for at a terminal; never on a command line.
The key pair is Ed25519 (CKM_EDDSA), made with the token's own tools; the public half must lie in the token too.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from discreet.errors import InputError, MissingExtra
from discreet.files.atomic import read_bytes
from discreet.ledger.keys import Signer, signature_holds

PIN = "DISCREET_PIN"
PROBE = {"discreet": "does this key sign"}


@dataclass(frozen=True, eq=False)
class KeyInToken(Signer):
    """A private key behind an open session with its token."""

    session: Any
    key: Any
    point: bytes

    @classmethod
    def at(cls, place: str) -> KeyInToken:
        """The key that a `pkcs11:` address names, with a session that stays open."""
        try:
            import pkcs11
        except ImportError:
            raise MissingExtra("tokens", needed_for="a key in a PKCS#11 token") from None
        path, query = _parts(place)
        module = query.get("module-path") or os.environ.get("PKCS11_MODULE", "")
        if not module:
            raise _unusable("no module-path", "give module-path=… or set PKCS11_MODULE to the token's library")
        try:
            named: dict[str, Any] = {"token_label": path.get("token"), "token_serial": path.get("serial", "").encode()}
            token = pkcs11.lib(module).get_token(**{name: value for name, value in named.items() if value})
            try:
                session = token.open(user_pin=_pin(query))
            except pkcs11.exceptions.UserAlreadyLoggedIn:  # by an earlier session of this process
                session = token.open()
            wanted: dict[str, Any] = {"label": path.get("object"), "id": unquote_to_bytes(path.get("id", ""))}
            wanted = {name: value for name, value in wanted.items() if value}
            private = session.get_key(object_class=pkcs11.ObjectClass.PRIVATE_KEY, **wanted)
            public = session.get_key(object_class=pkcs11.ObjectClass.PUBLIC_KEY, **wanted)
            found = cls(session, private, bytes(public[pkcs11.Attribute.EC_POINT])[-32:])
            if not signature_holds(found.public, PROBE, found.sign(PROBE)):
                raise _unusable("a key that does not sign as Ed25519", "make an Ed25519 key pair in the token")
        except (pkcs11.PKCS11Error, KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
            raise _unusable(type(error).__name__, "check module, token, object and PIN") from None
        return found

    @property
    def public(self) -> str:
        """The raw public key in hexadecimal."""
        return self.point.hex()

    def signature(self, data: bytes) -> bytes:
        """The signature of some bytes, made in the token."""
        import pkcs11

        try:
            return bytes(self.key.sign(data, mechanism=pkcs11.Mechanism.EDDSA))
        except pkcs11.PKCS11Error as error:
            raise _unusable(type(error).__name__, "check that the token is still there; nothing was recorded") from None


def _parts(place: str) -> tuple[dict[str, str], dict[str, str]]:
    """Path and query of a PKCS#11 address."""
    path, _, query = place.removeprefix("pkcs11:").partition("?")
    try:
        named = dict(part.split("=", 1) for part in path.split(";") if part)
        asked = dict(part.split("=", 1) for part in query.split("&") if part)
    except ValueError:
        raise _unusable("an address that cannot be read", "write pkcs11:token=…;object=…?module-path=…") from None
    unknown = [*(set(named) - {"token", "serial", "object", "id", "type"}), *(set(asked) - {"module-path", "pin-source"})]
    if unknown:
        reason = "a PIN on a command line can be seen by others: use pin-source or DISCREET_PIN"
        raise _unusable(", ".join(sorted(unknown)), reason if "pin-value" in unknown else "leave it out")
    plain = {name: text if name == "id" else unquote(text) for name, text in named.items()}
    return plain, {name: unquote(text) for name, text in asked.items()}


def _pin(query: dict[str, str]) -> str:
    if "pin-source" in query:
        return read_bytes(Path(query["pin-source"].removeprefix("file:")), "the file with the PIN").decode().strip()
    if os.environ.get(PIN):
        return os.environ[PIN]
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass("PIN of the token: ")
    raise _unusable("no PIN", f"give pin-source=FILE, or set {PIN}")


def _unusable(found: str, remedy: str) -> InputError:
    return InputError(
        "The key in the token cannot be used",
        found=found,
        allowed="an Ed25519 key pair in a token that this user may open",
        remedy=remedy,
    )
