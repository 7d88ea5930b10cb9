"""Time stamps of heads (RFC 3161), made by an authority of the tests and checked against its root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from authority import Authority

from discreet.errors import InputError, Refuted
from discreet.ledger.heads import Head
from discreet.ledger.stamps import ask_for_stamp, stamp_request, stamp_time

pytestmark = pytest.mark.needs_openssl
HEAD = Head(7, "a" * 64, "b" * 64)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    pytest.importorskip("rfc3161_client", reason="discreet[stamps] is not installed")
    return Authority(tmp_path_factory.mktemp("stamps") / "authority")


@pytest.fixture
def address(authority: Authority) -> Iterator[str]:
    server, place = authority.serve()
    yield place
    server.shutdown()


def test_a_stamp_over_http_says_when(authority: Authority, address: str) -> None:
    answer = ask_for_stamp(address, stamp_request(HEAD))
    assert abs(stamp_time(HEAD, answer, authority.root) - datetime.now(UTC)) < timedelta(hours=1)
    signed = replace(HEAD, public="c" * 64, signature="d" * 128)
    assert stamp_time(signed, answer, authority.root), "signed or not, it is the same place of the same ledger"


@pytest.mark.parametrize(
    "other", [Head(8, "a" * 64, "b" * 64), Head(7, "c" * 64, "b" * 64), Head(7, "a" * 64, "d" * 64), Head(7, "a" * 64)],
    ids=["sequence", "hash", "ledger", "format"],
)  # fmt: skip
def test_a_stamp_is_for_one_head(authority: Authority, other: Head) -> None:
    answer = authority.answer(stamp_request(HEAD))
    with pytest.raises(Refuted, match="does not hold"):
        stamp_time(other, answer, authority.root)


def test_another_authority_proves_nothing(authority: Authority, tmp_path: Path) -> None:
    """Made for the purpose, with the same name: its root is not the one that the reader trusts."""
    forger = Authority(tmp_path / "authority")
    answer = forger.answer(stamp_request(HEAD))
    assert stamp_time(HEAD, answer, forger.root)
    with pytest.raises(Refuted):
        stamp_time(HEAD, answer, authority.root)


def test_a_certificate_for_something_else_does_not_stamp(tmp_path: Path) -> None:
    """A web server's key, certified by the same root; OpenSSL itself refuses to stamp with it."""
    import subprocess

    server = Authority(tmp_path / "server", "serving")
    with pytest.raises(subprocess.CalledProcessError):
        server.answer(stamp_request(HEAD))


def test_every_byte_of_a_stamp_counts(authority: Authority) -> None:
    """A flipped bit is refused; in what nothing signs, such as a certificate that is not needed, it may pass with the same time."""
    answer = authority.answer(stamp_request(HEAD))
    true = stamp_time(HEAD, answer, authority.root)
    refused = 0
    for place in range(0, len(answer), 7):
        changed = answer[:place] + bytes([answer[place] ^ 1]) + answer[place + 1 :]
        try:
            assert stamp_time(HEAD, changed, authority.root) == true
        except Refuted:
            refused += 1
    assert refused > len(answer) / 7 / 2


@pytest.mark.parametrize("junk", [b"", b"\x30", b"\x30\x03\x02\x01\x02", b"nonsense", b"\x30\x82\xff\xff"])
def test_junk_is_no_stamp(authority: Authority, junk: bytes) -> None:
    with pytest.raises(Refuted):
        stamp_time(HEAD, junk, authority.root)


def test_what_cannot_be_had_is_told(authority: Authority, tmp_path: Path) -> None:
    for place in ("ftp://nowhere", "/etc/passwd", "http://127.0.0.1:9/", "http://"):
        with pytest.raises(InputError, match="No time stamp"):
            ask_for_stamp(place, b"x")
    answer = authority.answer(stamp_request(HEAD))
    (tmp_path / "junk.pem").write_text("no certificate")
    for roots in (tmp_path / "junk.pem", tmp_path / "missing.pem"):
        with pytest.raises(InputError):
            stamp_time(HEAD, answer, roots)
