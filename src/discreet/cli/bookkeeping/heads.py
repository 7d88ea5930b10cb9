"""`discreet ledger heads|head`: the end of the chain, kept where whoever owns the ledger cannot change it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.places import Key, LedgerPlace, ledger_at, signer_at


def heads(
    place: LedgerPlace,
    to: Annotated[
        str | None, typer.Option(metavar="PLACE", help="Keep heads here from now on: a folder, or git:REPOSITORY.")
    ] = None,
    key: Key = None,
    as_json: Json = False,
) -> None:
    """Say where heads are kept, or name another place.

    Example: discreet ledger heads ledger.db
    """
    from discreet.views.ledger_steps import heads_view

    with ledger_at(place, signer=signer_at(key)) as book:
        if to is not None:
            book.keep_heads(to)
        state = book.state
        keeper = book.keeper()
        kept = [] if keeper is None else [each.head for each in keeper.kept(state.trust.ledger)]
        if keeper is not None and to is None:
            book.must_be_newest()
    show(heads_view(state, keeper, kept), as_json=as_json)


def head(
    place: LedgerPlace,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write, such as head.json.")],
    key: Key = None,
    authority: Annotated[
        str | None, typer.Option(metavar="URL", help="Have it stamped by this authority (RFC 3161), into FILE with .tsr.")
    ] = None,
    request: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the question to an authority, to be sent by other means.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the head of the chain to a file, and have it stamped.

    Example: discreet ledger head ledger.db -o head.json --key publisher.pem
    """
    from discreet.files.atomic import write_atomically
    from discreet.files.canonical import canonical_bytes
    from discreet.ledger.stamps import ask_for_stamp, stamp_request
    from discreet.publish.evidence import STAMP
    from discreet.views.ledger_steps import head_view

    with ledger_at(place, signer=signer_at(key)) as book:
        book.must_be_newest()
        found = book.head()
    asked = None if authority is None and request is None else stamp_request(found)
    more: dict[str, Path] = {}
    if authority is not None and asked is not None:
        more["stamp"] = output.with_suffix(STAMP)
        write_atomically(more["stamp"], ask_for_stamp(authority, asked))
    if request is not None and asked is not None:
        more["request"] = request
        write_atomically(request, asked)
    write_atomically(output, canonical_bytes(found.document()) + b"\n")
    show(head_view(found, output, more), as_json=as_json)
