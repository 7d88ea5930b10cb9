"""A key that an agent holds: the agent of OpenSSH, or any other that speaks its protocol, signs on request.

    agent:FINGERPRINT        the Ed25519 key with this fingerprint, as `discreet ledger key` shows it
    agent:COMMENT            the one with this comment

The agent listens at the socket SSH_AUTH_SOCK. An `ssh-ed25519` signature is a plain Ed25519 signature of the bytes that were sent.
What discreet signs is a JSON document, which no other user of such a key mistakes for its own: what SSH signs begins with the
length of a session's name.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.ledger.keys import Signer, fingerprint, signature_holds

LIST, LISTED, SIGN, SIGNED = 11, 12, 13, 14
KIND = b"ssh-ed25519"
LONGEST = 1 << 18
PATIENCE_SECONDS = 60.0
PROBE = {"discreet": "does this key sign"}


@dataclass(frozen=True)
class KeyInAgent(Signer):
    """A private key in an agent."""

    point: bytes

    @classmethod
    def at(cls, place: str) -> KeyInAgent:
        """The key that an `agent:` address names."""
        wanted = place.removeprefix("agent:")
        keys = list(_listed())
        found = [key for key, comment in keys if wanted in (fingerprint(key.hex()), comment)]
        if len(found) != 1:
            known = ", ".join(f"{fingerprint(key.hex())} ({comment})" for key, comment in keys)
            raise InputError(
                "The agent holds no such key" if not found else "The agent holds several such keys",
                found=wanted or "no name",
                allowed=known or "no Ed25519 key: the agent has none",
                remedy="name one by its fingerprint, or add it with: ssh-add",
            )
        signer = cls(found[0])
        if not signature_holds(signer.public, PROBE, signer.sign(PROBE)):
            raise _unusable("an agent that does not sign plain Ed25519")
        return signer

    @property
    def public(self) -> str:
        """The raw public key in hexadecimal."""
        return self.point.hex()

    def signature(self, data: bytes) -> bytes:
        """The signature of some bytes, made by the agent."""
        blob = _string(KIND) + _string(self.point)
        kind, body = _asked(SIGN, _string(blob) + _string(data) + struct.pack(">I", 0))
        if kind != SIGNED:
            raise _unusable("an agent that refused to sign")
        try:
            name, signature = _strings(next(_strings(body)))
        except (ValueError, StopIteration):
            raise _unusable("an answer that cannot be read") from None
        if name != KIND:
            raise _unusable("a signature of another kind")
        return signature


def _listed() -> Iterator[tuple[bytes, str]]:
    """The Ed25519 keys of the agent, with their comments."""
    kind, body = _asked(LIST, b"")
    if kind != LISTED or len(body) < 4:
        raise _unusable("an agent that lists no keys")
    try:
        texts = list(_strings(body[4:]))
        for blob, comment in zip(texts[::2], texts[1::2], strict=True):
            name, *rest = _strings(blob)
            if name == KIND and len(rest) == 1 and len(rest[0]) == 32:
                yield rest[0], comment.decode(errors="replace")
    except ValueError:
        raise _unusable("an answer that cannot be read") from None


def _asked(kind: int, body: bytes) -> tuple[int, bytes]:
    """One question to the agent, and the kind and body of its answer."""
    place = os.environ.get("SSH_AUTH_SOCK", "")
    if not place:
        raise _unusable("no agent: SSH_AUTH_SOCK is not set")
    message = bytes([kind]) + body
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE_SECONDS)
            link.connect(place)
            link.sendall(_string(message))
            (size,) = struct.unpack(">I", _received(link, 4))
            if not 1 <= size <= LONGEST:
                raise _unusable("an answer of absurd length")
            answer = _received(link, size)
    except OSError as error:
        raise _unusable(error.strerror or type(error).__name__) from None
    return answer[0], answer[1:]


def _received(link: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = link.recv(size - len(found))
        if not part:
            raise _unusable("an agent that hung up")
        found += part
    return found


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _strings(data: bytes) -> Iterator[bytes]:
    """Length-prefixed strings, to the last byte."""
    while data:
        size = int.from_bytes(data[:4], "big")
        if len(data) < 4 + size:
            raise ValueError
        yield data[4 : 4 + size]
        data = data[4 + size :]


def _unusable(found: str) -> InputError:
    return InputError(
        "The key in the agent cannot be used",
        found=found,
        allowed="an agent at SSH_AUTH_SOCK that holds the Ed25519 key",
        remedy="start an agent and add the key with: ssh-add",
    )
