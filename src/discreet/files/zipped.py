"""Large documents as gzip: what is read is the same, and a small file never stands for a large one.

A JSON document of more than `LARGE` bytes may be kept zipped (`mechanism.json.gz` in a release folder). Readers tell it by its
first two bytes, which begin no text. Inflating is limited before it begins, by how long the zipped file is.
"""

from __future__ import annotations

import gzip
import zlib

from discreet.errors import InputError, TooLarge

LARGE = 1 << 20
MOST_TIMES = 50
"""How many times as long as zipped a document may be; those of tables are three to ten times as long."""
ENDING = ".gz"
MAGIC = b"\x1f\x8b"
LEVEL = 9


def zipped(data: bytes) -> bytes | None:
    """The document as gzip, the same bytes for the same document; None where it is small or would not be read back."""
    if len(data) <= LARGE:
        return None
    found = gzip.compress(data, LEVEL, mtime=0)
    return found if len(data) <= MOST_TIMES * len(found) else None


def unzipped(data: bytes, what: str) -> bytes:
    """What the bytes stand for: themselves, or the document that was zipped."""
    if not data.startswith(MAGIC):
        return data
    most = MOST_TIMES * len(data)
    inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        found = inflate.decompress(data, most)
        whole, endless = inflate.eof and not inflate.unused_data, bool(inflate.unconsumed_tail)
    except zlib.error:
        found, whole, endless = b"", False, False
    if endless:
        raise TooLarge(
            f"{what}, unzipped",
            size=f"more than {most:,} bytes",
            fits=f"{MOST_TIMES} times as many as zipped",
            remedy="check where the file comes from",
        )
    if not whole:
        raise InputError(
            f"{what} cannot be unzipped",
            found="damaged data, or something behind it",
            allowed="one document as gzip",
            remedy="copy the file again",
        )
    return found
