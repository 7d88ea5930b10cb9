"""Keys in places of every kind: a file, a token of SoftHSM, OpenSSH's agent; and an agent of ours that can misbehave."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.ledger import Signer

SOFTHSM = "usr/lib/**/libsofthsm2.so"
PIN = "4321"


def softhsm_module() -> str:
    """SoftHSM's library."""
    return str(sorted(Path("/").glob(SOFTHSM))[0])


def make_token(folder: Path) -> str:
    """A token with an Ed25519 key pair; returns its address. Sets SOFTHSM2_CONF for this process: the library reads it once."""
    tokens = folder / "tokens"
    tokens.mkdir()
    (folder / "softhsm2.conf").write_text(f"directories.tokendir = {tokens}\nobjectstore.backend = file\nlog.level = ERROR\n")
    os.environ["SOFTHSM2_CONF"] = str(folder / "softhsm2.conf")
    subprocess.run(
        ["softhsm2-util", "--init-token", "--free", "--label", "office", "--so-pin", "12345678", "--pin", PIN],
        check=True, capture_output=True,
    )  # fmt: skip
    (folder / "pin").write_text(f"{PIN}\n")
    code = """
import sys, pkcs11
from pkcs11.util.ec import encode_named_curve_parameters
token = pkcs11.lib(sys.argv[1]).get_token(token_label="office")
with token.open(user_pin=sys.argv[2], rw=True) as session:
    curve = {pkcs11.Attribute.EC_PARAMS: encode_named_curve_parameters("1.3.101.112")}
    made = session.create_domain_parameters(pkcs11.KeyType.EC_EDWARDS, curve, local=True)
    made.generate_keypair(mechanism=pkcs11.Mechanism.EC_EDWARDS_KEY_PAIR_GEN, store=True, label="publisher", id=b"\\x01")
    session.generate_keypair(pkcs11.KeyType.RSA, 2048, store=True, label="other")
"""
    import sys

    subprocess.run([sys.executable, "-c", code, softhsm_module(), PIN], check=True)
    return f"pkcs11:token=office;object=publisher?module-path={softhsm_module()}&pin-source={folder / 'pin'}"


def room() -> TemporaryDirectory[str]:
    """A folder for a socket, whose path may have a hundred letters and no more, wherever temporary files lie."""
    return TemporaryDirectory(prefix="agent-", dir="/tmp")


@contextmanager
def ssh_agent(folder: Path) -> Iterator[str]:
    """OpenSSH's agent with one Ed25519 key; yields the key's address."""
    own = room()
    place = Path(own.name) / "agent.sock"
    running = subprocess.Popen(["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.DEVNULL)
    try:
        while not place.exists():
            assert running.poll() is None
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "publisher", "-f", folder / "id"], check=True)
        with_agent = os.environ | {"SSH_AUTH_SOCK": str(place)}
        subprocess.run(["ssh-add", "-q", folder / "id"], check=True, env=with_agent, capture_output=True)
        os.environ["SSH_AUTH_SOCK"] = str(place)
        yield "agent:publisher"
    finally:
        running.terminate()
        running.wait()
        own.cleanup()


class Agent:
    """An agent in this process that holds a key file's key; `answer` may be replaced to misbehave."""

    def __init__(self, signer: Signer) -> None:
        self.signer, self.room = signer, room()
        self.place = Path(self.room.name) / "own.sock"
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(self.place))
        self.listening.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self.listening.accept()
            except OSError:
                return
            with link:
                size = int.from_bytes(link.recv(4), "big")
                data = b""
                while len(data) < size:
                    data += link.recv(size - len(data))
                link.sendall(self.answer(data))

    def answer(self, asked: bytes) -> bytes:
        """The answer to a question, as the protocol has it."""
        point = string(b"ssh-ed25519") + string(bytes.fromhex(self.signer.public))
        if asked[0] == 11:
            other = string(b"\0\0\0\3rsa") + string(b"x")
            return string(bytes([12]) + struct.pack(">I", 2) + other + string(point) + string(b"mine"))
        blob_size = int.from_bytes(asked[1:5], "big")
        size = int.from_bytes(asked[5 + blob_size : 9 + blob_size], "big")
        signed = self.signer.signature(asked[9 + blob_size : 9 + blob_size + size])
        return string(bytes([14]) + string(string(b"ssh-ed25519") + string(signed)))


def string(data: bytes) -> bytes:
    """A string with its length before it."""
    return struct.pack(">I", len(data)) + data
