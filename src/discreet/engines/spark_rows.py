"""CSV on Spark: the records of `discreet.engines.rows` as expressions over one line each.

Spark reads lines, ended by LF alone, and never parses CSV itself. A line's bytes are held as Latin-1, one character a byte,
until its fields are apart; then each is read as UTF-8. Lines without quotes are split at commas. Others are folded over the
pieces between commas: a quote runs on from piece to piece until one closes it. Runs of quotes end at commas, so a piece
closes the quote if and only if something is left of its quotes when pairs are taken out from the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.engines.rows import LONGEST_RECORD, LONGEST_TEXT, UNREADABLE, header, opened, place

LATIN = "ISO-8859-1"
MARK = b"\xef\xbb\xbf".decode(LATIN)


def csv_frame(session: Any, path: Path, columns: Sequence[str]) -> Any:
    """The given columns of every record, as texts named c0, c1, …"""
    from pyspark.sql import functions as F  # noqa: N812

    with opened(path) as file:
        names = header(file)
    places = [place(names, column) for column in columns]
    cut = F.decode(F.substring(F.col("value").cast("binary"), 1, LONGEST_RECORD), LATIN)
    marked = F.when(F.startswith(cut, F.lit(MARK)), F.substring(cut, 4, LONGEST_RECORD)).otherwise(cut)
    line = F.regexp_replace(marked, r"\r\z", "")
    lines = session.read.text(str(path), lineSep="\n").select(line.alias("line"))
    pieces = F.split("line", ",", -1)
    split = F.struct(*(F.coalesce(F.get(pieces, F.lit(i)), F.lit("")).alias(f"f{j}") for j, i in enumerate(places)))
    fields = F.when(F.contains("line", F.lit('"')), _folded(F, pieces, places)).otherwise(split)
    raw = lines.select(fields.alias("fields"))
    read = raw.select([_value(F, F.col(f"fields.f{j}")).alias(f"c{j}") for j in range(len(places))])
    repeated = F.lit(True)
    for j, column in enumerate(columns):
        repeated = repeated & (F.col(f"c{j}") == F.lit(column))
    return read.where(~repeated)


def _folded(F: Any, pieces: Any, places: Sequence[int]) -> Any:
    """The fields at the given places of a line with quotes."""
    wide = len(places)
    start = F.struct(
        F.lit(0).alias("index"), F.lit(False).alias("open"), F.lit("").alias("text"),
        *(F.lit("").alias(f"f{j}") for j in range(wide)),
    )  # fmt: skip

    def merge(state: Any, piece: Any) -> Any:
        begins = ~state["open"] & F.startswith(piece, F.lit('"'))
        quoted = state["open"] | begins
        body = F.when(begins, F.substring(piece, 2, LONGEST_RECORD)).otherwise(piece)
        closing = F.instr(F.replace(body, F.lit('""'), F.lit("..")), '"')
        rest = F.expr("''")
        rest = F.when(closing > 0, F.substr(body, closing + 1)).otherwise(rest)
        inner = F.when(closing > 0, F.substr(body, F.lit(1), closing - 1)).otherwise(body)
        content = F.concat(F.replace(inner, F.lit('""'), F.lit('"')), rest)
        # What is longer than any text can be need not grow further.
        longer = F.when(F.length(state["text"]) > 4 * LONGEST_TEXT, state["text"]).otherwise(
            F.concat(state["text"], F.lit(","), content)
        )
        text = F.when(~quoted, piece).when(state["open"], longer).otherwise(content)
        ended = ~quoted | (closing > 0)
        return F.struct(
            (state["index"] + ended.cast("int")).alias("index"), (~ended).alias("open"), text.alias("text"),
            *(
                F.when(ended & (state["index"] == i), text).otherwise(state[f"f{j}"]).alias(f"f{j}")
                for j, i in enumerate(places)
            ),
        )  # fmt: skip

    def finish(state: Any) -> Any:
        return F.struct(*(
            F.when(state["open"] & (state["index"] == i), state["text"]).otherwise(state[f"f{j}"]).alias(f"f{j}")
            for j, i in enumerate(places)
        ))  # fmt: skip

    return F.aggregate(pieces, start, merge, finish)


def _value(F: Any, field: Any) -> Any:
    """A field's bytes as text."""
    text = F.encode(field, LATIN).cast("string")
    readable = F.is_valid_utf8(text) & ~F.contains(text, F.lit("\0")) & (F.length(text) <= LONGEST_TEXT)
    return F.when(readable, text).otherwise(F.lit(UNREADABLE))
