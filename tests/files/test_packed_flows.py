"""Flows of a certificate, packed: small, read back as they were, in this and in the earlier form, and never endless."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.files.flows import PLANES, packed, unpacked

whole = st.integers(-(2**61), 2**61)
flows = st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40), whole), max_size=20)


def triples(found: list[tuple[int, int, int]]) -> bytes:
    return b"".join(struct.pack("<qqq", *flow) for flow in found)


@given(flows)
def test_flows_are_read_back_as_they_were(found: list[tuple[int, int, int]]) -> None:
    assert list(unpacked(packed(found))) == found
    assert packed(unpacked(packed(found))) == packed(found), "read and written again, the file is the same"


@given(flows)
def test_flows_of_earlier_versions_are_read(found: list[tuple[int, int, int]]) -> None:
    assert list(unpacked(base64.b64encode(zlib.compress(triples(found))).decode())) == found


def test_neighbouring_edges_take_a_third_of_the_room() -> None:
    found = [(k // 2, k // 2 + (-1) ** k, (k * 7919) % 2**20) for k in range(2, 900)]
    before = base64.b64encode(zlib.compress(triples(found), 6))
    assert len(packed(found)) < 0.55 * len(before)


@pytest.mark.parametrize("form", [PLANES, ""])
def test_what_is_damaged_or_endless_is_refused(form: str) -> None:
    bomb = base64.b64encode(zlib.compress(bytes(24 * 10**6), 9)).decode()
    short = base64.b64encode(zlib.compress(bytes(23))).decode()
    cut = base64.b64encode(zlib.compress(triples([(0, 1, 5)]))[:-3]).decode()
    twice = base64.b64encode(zlib.compress(b"") * 2).decode()
    for text in (bomb, short, cut, twice, "é", "eJw", PLANES * 2):
        with pytest.raises(InputError, match="cannot be unpacked"):
            unpacked(form + text)
    with pytest.raises(InputError, match="64 bits"):
        packed([(0, 1, 2**63)])
