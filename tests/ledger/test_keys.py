"""Keys behind one interface: whatever holds the private half, the signature is the same, and refusals are in words."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from signers import Agent, make_token, softhsm_module, ssh_agent, string

from discreet.errors import InputError
from discreet.ledger import Cost, Signer, open_ledger
from discreet.ledger.keys import signature_holds


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("pkcs11", reason="discreet[tokens] is not installed")
    return make_token(tmp_path_factory.mktemp("token"))


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    found = Agent(Signer.create(tmp_path / "held.pem"))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(found.place))
    yield found
    found.listening.close()
    found.room.cleanup()


def address(request: pytest.FixtureRequest, kind: str, folder: Path) -> str:
    if kind == "token":
        return str(request.getfixturevalue("token"))
    if kind == "agent":
        return f"agent:{request.getfixturevalue('agent').signer.fingerprint}"
    Signer.create(folder / "key.pem")
    return str(folder / "key.pem")


KINDS = ["file", "agent", pytest.param("token", marks=pytest.mark.needs_softhsm)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_ledger_is_kept_with_a_key_of_any_kind(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    place = address(request, kind, tmp_path)
    with open_ledger(str(tmp_path / "ledger.db"), create=True) as book:
        book.init("pure", Signer.read(place))
        book.declare("households", "household", Fraction(2))
    with open_ledger(str(tmp_path / "ledger.db"), signer=Signer.read(place)) as book:
        held = book.reserve(book.commit("households", "household", Cost(Fraction(1)), {}).hash).hash
        book.spend(held)
        book.release(held, "d" * 64)
        head = book.head()
        assert book.verify([head]) is None and head.holds


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_signed_in_any_place_is_checked_in_one(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    signer = Signer.read(address(request, kind, tmp_path))
    document = {"discreet": "test", "words": "ε" * 5000}
    signature = signer.sign(document)
    assert signature_holds(signer.public, document, signature) and len(signer.fingerprint) == 64
    assert not signature_holds(signer.public, document | {"words": "δ"}, signature)


@pytest.mark.needs_agent
def test_openssh_holds_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", os.environ.get("SSH_AUTH_SOCK", ""))
    with ssh_agent(tmp_path) as place:
        signer = Signer.read(place)
        assert signature_holds(signer.public, {"a": 1}, signer.sign({"a": 1}))
        assert Signer.read(f"agent:{signer.fingerprint}").public == signer.public
    with pytest.raises(InputError, match="agent"):
        signer.sign({"a": 1})


@pytest.mark.needs_softhsm
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.replace("object=publisher", "object=nobody"), "token cannot be used"),
        (lambda a: a.replace("token=office", "token=nowhere"), "token cannot be used"),
        (lambda a: a.replace("object=publisher", "object=other"), "token cannot be used"),
        (lambda a: a.replace(softhsm_module(), "/nowhere.so"), "token cannot be used"),
        (lambda a: a.replace("pin-source=", "pin-source=/nowhere"), "could not be read"),
        (lambda a: a.partition("&")[0], "no PIN"),
        (lambda a: a.partition("?")[0], "no module-path"),
        (lambda a: a + "&pin-value=4321", "seen by others"),
        (lambda a: a.replace(";", "%"), "token cannot be used"),
        (lambda _: "pkcs11:nonsense", "cannot be read"),
    ],
    ids=["no object", "no token", "RSA", "no module", "no PIN file", "no PIN", "no path", "PIN on the line", "junk", "nonsense"],
)
def test_a_token_that_cannot_be_used_is_told(
    token: str, monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str], words: str
) -> None:
    monkeypatch.delenv("DISCREET_PIN", raising=False)
    monkeypatch.delenv("PKCS11_MODULE", raising=False)
    with pytest.raises(InputError, match=words):
        Signer.read(change(token))


@pytest.mark.needs_softhsm
def test_a_wrong_pin_is_told_without_the_pin(token: str, tmp_path: Path) -> None:
    """In a process of its own: whoever is logged in already is not asked again."""
    (tmp_path / "wrong").write_text("98761")
    code = "import sys; from discreet.cli.main import run; sys.exit(run(sys.argv[1:]))"
    for pin, expected in (("wrong", 2), ("pin", 0)):
        place = token if pin == "pin" else f"{token.partition('&')[0]}&pin-source={tmp_path / 'wrong'}"
        done = subprocess.run([sys.executable, "-c", code, "ledger", "key", place], check=False, capture_output=True, text=True)
        assert done.returncode == expected and "98761" not in done.stdout + done.stderr, done.stderr
        assert ("token cannot be used" in done.stderr) == (pin == "wrong")


@pytest.mark.needs_softhsm
def test_the_pin_may_stand_in_the_environment(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_PIN", "4321")
    assert Signer.read(token.partition("&")[0]).public == Signer.read(token).public


ANSWERS = {
    "silence": b"",
    "absurd length": b"\xff\xff\xff\xff",
    "cut short": b"\0\0\0\x10abc",
    "failure": string(b"\x05"),
    "no keys": string(b"\x0c\0\0\0\0"),
    "junk": string(b"\x0c\0\0\0\x01\xff\xff\xff\xff"),
    "another kind": string(b"\x0e" + string(string(b"ssh-rsa") + string(b"x" * 64))),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("moment", [11, 13])
def test_an_agent_that_misbehaves_is_told(agent: Agent, answer: str, moment: int) -> None:
    true_answer = agent.answer
    agent.answer = lambda asked: ANSWERS[answer] if asked[0] == moment else true_answer(asked)  # type: ignore[method-assign]
    with pytest.raises(InputError, match="agent"):
        Signer.read(f"agent:{agent.signer.fingerprint}")


def test_an_agent_that_signs_something_else_is_noticed(agent: Agent) -> None:
    true_answer = agent.answer
    agent.answer = (
        lambda asked: true_answer(  # type: ignore[method-assign]
            asked[:-5] + b"x" + asked[-4:] if asked[0] == 13 else asked
        )
    )
    with pytest.raises(InputError, match="plain Ed25519"):
        Signer.read("agent:mine")


def test_an_agent_without_the_key_lists_those_that_it_has(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=agent.signer.fingerprint):
        Signer.read("agent:nobody")
    monkeypatch.delenv("SSH_AUTH_SOCK")
    with pytest.raises(InputError, match="SSH_AUTH_SOCK"):
        Signer.read("agent:mine")
