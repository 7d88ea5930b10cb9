"""Canonical JSON and its hash: one document, one byte string, one SHA-256.

Keys sorted, no spaces, UTF-8 without escapes, no floating-point numbers: exact numbers are strings such as "1/3". A list of a
million items takes ten times the memory of its bytes, so that one may be left to be made while it is written (`Streamed`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from json.encoder import encode_basestring
from typing import Any

from discreet.errors import InputError

LARGEST_FILE = 1 << 30
DEEPEST = 40
SOME = 4096
"""Items of a list that are written at once."""
PLAIN = frozenset((str, int, bool, type(None)))


def canonical_bytes(document: Any) -> bytes:
    """The canonical form of a document of dicts, lists, strings, integers, booleans and None."""
    _must_be_exact(document)
    try:
        return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise InputError(
            "A document holds half of a character",
            found="a lone surrogate",
            allowed="text that can be written as UTF-8",
            remedy="correct the text",
        ) from None


def document_hash(document: Any) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_bytes(document)).hexdigest()


class Streamed:
    """A list whose items are made while they are written; with a key they are texts, each in an object that has that key alone."""

    def __init__(self, items: Callable[[], Iterable[Any]], key: str | None = None) -> None:
        self.items, self.key = items, key

    def written(self, some: list[Any]) -> bytes:
        """Some of the items, with commas between them."""
        if self.key is None:
            return canonical_bytes(some)[1:-1]
        before = f"{{{encode_basestring(self.key)}:"
        return ",".join([f"{before}{encode_basestring(text)}}}" for text in some]).encode()


def canonical_pieces(document: Any) -> Iterator[bytes]:
    """The canonical form in pieces, of a document in whose objects such lists stand."""
    if isinstance(document, Streamed):
        items, between = iter(document.items()), b""
        yield b"["
        while some := list(islice(items, SOME)):
            yield between + document.written(some)
            between = b","
        yield b"]"
    elif isinstance(document, dict) and any(isinstance(inside, (dict, Streamed)) for inside in document.values()):
        canonical_bytes(dict.fromkeys(document))  # keys are text
        for number, key in enumerate(sorted(document)):
            yield (b"," if number else b"{") + canonical_bytes(key) + b":"
            yield from canonical_pieces(document[key])
        yield b"}"
    else:
        yield canonical_bytes(document)


def pieces_hash(document: Any) -> str:
    """`document_hash` of a document in whose objects such lists stand."""
    digest = hashlib.sha256()
    for piece in canonical_pieces(document):
        digest.update(piece)
    return digest.hexdigest()


def parse_object(data: bytes, what: str) -> dict[str, Any]:
    """Strict JSON that is an object."""
    document = parse_json(data, what)
    if not isinstance(document, dict):
        raise InputError(
            f"{what} holds no JSON object",
            found=type(document).__name__,
            allowed='{ "key": … }',
            remedy="check that this is the right file",
        )
    return document


def parse_json(data: bytes, what: str) -> Any:
    """Strict JSON: UTF-8, no repeated keys, no floats, no NaN, no absurd nesting."""
    if len(data) > LARGEST_FILE:
        raise InputError(
            f"{what} is too large to read",
            found=f"{len(data):,} bytes",
            allowed=f"up to {LARGEST_FILE:,}",
            remedy="check that this is the right file",
        )
    try:
        document = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=lambda pairs: _once(pairs, what),
            parse_float=lambda text: _refuse_float(text, what),
            parse_constant=lambda text: _refuse_float(text, what),
        )
    except UnicodeDecodeError:
        raise InputError(
            f"{what} is not text", found="bytes that are not UTF-8", allowed="a JSON file", remedy="check the file"
        ) from None
    except RecursionError:
        raise _too_deep(what) from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{what} is not valid JSON",
            found=f"{error.msg} at line {error.lineno}, column {error.colno}",
            allowed="a JSON file written by discreet",
            remedy="it may be cut short or edited: make it again",
        ) from None
    except ValueError:
        raise InputError(
            f"{what} holds a whole number that is too long",
            found="more than 4,300 digits outside a string",
            allowed="long numbers as strings",
            remedy="check the file",
        ) from None
    must_be_shallow(document, what)
    return document


def _once(pairs: list[tuple[str, Any]], what: str) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"{what} has the same key twice", found=repr(twice), allowed="each key once", remedy="remove one")
    return found


def _refuse_float(text: str, what: str) -> Any:
    raise InputError(
        f"{what} holds a floating-point number",
        found=text,
        allowed='exact numbers as text, such as "1/3" or "0.25"',
        remedy="put the number in quotes",
    )


def must_be_shallow(document: Any, what: str) -> None:
    """Refuse absurd nesting before anything walks the document by recursion."""
    level = [document]
    for _ in range(DEEPEST + 1):
        level = [inside for item in level if isinstance(item, (dict, list)) for inside in _inside(item)]
        if not level:
            return
    raise _too_deep(what)


def _inside(item: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return item.values() if isinstance(item, dict) else item


def _too_deep(what: str) -> InputError:
    return InputError(
        f"{what} is nested too deeply",
        found="many brackets",
        allowed=f"at most {DEEPEST} levels",
        remedy="check the file",
    )


def _must_be_exact(document: Any, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise _too_deep("A document")
    if isinstance(document, (dict, list, tuple)):
        if isinstance(document, dict):
            for key in document:
                if not isinstance(key, str):
                    raise InputError("A document's keys must be text", found=repr(key), allowed="text", remedy="rename it")
        inside = document.values() if isinstance(document, dict) else document
        kinds = set(map(type, inside))
        if kinds == {dict} and _are_plain(inside, depth):
            return
        if not kinds <= PLAIN:  # nearly everything stands in long lists of text
            for value in inside:
                _must_be_exact(value, depth + 1)
        elif inside and depth == DEEPEST:
            raise _too_deep("A document")
    elif not (document is None or isinstance(document, (str, int))):
        raise InputError(
            "A document holds something that is not exact",
            found=type(document).__name__,
            allowed="text, whole numbers, true, false, null",
            remedy="write numbers as text",
        )


def _are_plain(objects: Iterable[dict[Any, Any]], depth: int) -> bool:
    """Whether objects hold nothing but text, whole numbers and the like, looked at all at once."""
    keys, kinds = set(map(type, chain.from_iterable(objects))), set(map(type, chain.from_iterable(map(dict.values, objects))))
    return keys <= {str} and kinds <= PLAIN and depth + 1 < DEEPEST
