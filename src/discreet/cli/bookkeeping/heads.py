"""`discreet ledger heads|head`: the end of the chain, kept where whoever owns the ledger cannot change it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    from discreet.views.view import Fact, Sentence, told

    with ledger_at(place, signer=signer_at(key)) as book:
        if to is not None:
            book.keep_heads(to)
        state = book.state
        keeper = book.keeper()
        kept = [] if keeper is None else keeper.kept(state.trust.ledger)
        if keeper is not None and to is None:
            book.must_be_newest()
    newest = kept[-1].head.sequence if kept else None
    facts: dict[str, Any] = {
        "ledger": state.trust.ledger, "entries": state.next, "heads": None if keeper is None else keeper.place, "kept": len(kept),
        "newest": newest,
    }  # fmt: skip
    words = [Fact("ledger", state.trust.ledger, whole=True), Fact("entries", str(state.next))]
    if keeper is None:
        show(told(facts, *words, Sentence("No place keeps its heads: name one with --to.")), as_json=as_json)
        return
    words += [Fact("kept at", keeper.place, whole=True), Fact("kept", f"{len(kept)} heads, the newest of entry {newest}")]
    show(told(facts, *words), as_json=as_json)


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
    from discreet.views.view import Fact, told

    with ledger_at(place, signer=signer_at(key)) as book:
        book.must_be_newest()
        found = book.head()
    asked = None if authority is None and request is None else stamp_request(found)
    facts: dict[str, Any] = {"head": output, "sequence": found.sequence, "hash": found.hash}
    if authority is not None and asked is not None:
        answer = ask_for_stamp(authority, asked)
        write_atomically(output.with_suffix(STAMP), answer)
        facts["stamp"] = output.with_suffix(STAMP)
    if request is not None and asked is not None:
        write_atomically(request, asked)
        facts["request"] = request
    write_atomically(output, canonical_bytes(found.document()) + b"\n")
    show(told(facts, *(Fact(name, str(text), whole=True) for name, text in facts.items())), as_json=as_json)
