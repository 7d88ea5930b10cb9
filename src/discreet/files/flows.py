"""The multipliers of an action in a certificate, packed because a large design has a million of them.

Flows are triples (from, to, numerator), or (state, row, numerator) of a quotient: the differences of `from` to the flow before,
those of `to` to `from`, and the numerators, each as little-endian 64-bit numbers of which first all lowest bytes are written, then
all second lowest, and so on; compressed with zlib, in base64 after `planes:`. Without that word (earlier versions) triples stand
one after the other.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from array import array
from collections.abc import Sequence

import numpy as np

from discreet.errors import InputError
from discreet.model.multipliers import Flow, PackedFlows

MOST_INFLATED = 50
"""How many times longer than packed flows may be; those of a design are less than ten times as long."""
FEW_BYTES = 4096
COMPRESSION = 6
"""More would take twenty times as long for a hundredth of the size."""
PLANES = "planes:"


def packed(flows: Sequence[Flow]) -> str:
    """The flows of one action as text."""
    try:
        numbers = np.array(flows.numbers if isinstance(flows, PackedFlows) else list(flows), dtype=np.int64).reshape(-1, 3)
    except OverflowError:
        raise InputError(
            "A multiplier does not fit into 64 bits",
            found="a larger number",
            allowed="numerators below 2^63",
            remedy="write the multipliers over a smaller scale",
        ) from None
    columns = np.stack([np.diff(numbers[:, 0], prepend=0), numbers[:, 1] - numbers[:, 0], numbers[:, 2]])
    data = columns.astype("<i8").view(np.uint8).reshape(3, -1, 8).transpose(0, 2, 1).tobytes()
    packed = zlib.compress(data, COMPRESSION)
    if len(data) > _most(packed):
        packed = zlib.compress(data, 0)
    return PLANES + base64.b64encode(packed).decode("ascii")


def _most(packed: bytes) -> int:
    return FEW_BYTES + MOST_INFLATED * len(packed)


def unpacked(text: str) -> PackedFlows:
    """The flows of one action. How much is inflated is limited by what was written: small files stay small."""
    try:
        packed = base64.b64decode(text.removeprefix(PLANES), validate=True)
        inflate = zlib.decompressobj()
        data = inflate.decompress(packed, _most(packed))
        whole = inflate.eof and not inflate.unused_data and len(data) % 24 == 0
    except (binascii.Error, zlib.error, ValueError):
        whole, data = False, b""
    if not whole:
        raise InputError(
            "The certificate's multipliers cannot be unpacked",
            found="damaged or endless data",
            allowed=f"zlib in base64, three 64-bit numbers for each flow, at most {MOST_INFLATED} times as long as packed",
            remedy="make the certificate again",
        )
    if text.startswith(PLANES):
        columns = np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(3, 8, -1).transpose(0, 2, 1)).view("<i8")[:, :, 0]
        first = np.cumsum(columns[0])
        triples = np.stack([first, first + columns[1], columns[2]], axis=1)
    else:
        triples = np.frombuffer(data, "<i8")
    return PackedFlows(array("q", triples.astype(np.int64).tobytes()))
