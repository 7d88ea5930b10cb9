"""`discreet ledger show|verify|export|backup|restore`: the history, checked, copied and brought back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.places import Key, LedgerPlace, ledger_at, signer_at

Against = Annotated[
    list[str] | None,
    typer.Option(metavar="KEPT", help="Releases, head files, or places that keep heads, which the chain must agree with."),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")]


def history(place: LedgerPlace, as_json: Json = False) -> None:
    """List every entry.

    Example: discreet ledger show ledger.db
    """
    from discreet.views.bookkeeping import history_view

    with ledger_at(place) as book:
        show(history_view(book.history()), as_json=as_json)


def check(
    place: LedgerPlace,
    against: Against = None,
    authority: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The root certificate of the authority that stamped head files.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay the whole ledger and check every rule.

    Also checks the hash chain, the signatures, the heads that are kept elsewhere, and the files of releases.

    Example: discreet ledger verify ledger.db --against release-2026
    """
    from discreet.publish.evidence import ledger_verdict
    from discreet.views.bookkeeping import ledger_verdict_view

    with ledger_at(place) as book:
        show(ledger_verdict_view(ledger_verdict(book, against or [], authority)), as_json=as_json)


def export(place: LedgerPlace, output: Output, as_json: Json = False) -> None:
    """Write every entry as one line of JSON, for keeping elsewhere.

    Example: discreet ledger export ledger.db -o ledger.jsonl
    """
    from discreet.views.ledger_steps import copied_view

    with ledger_at(place) as book:
        count = book.export(output)
    show(copied_view(output, count, with_head=False), as_json=as_json)


def keep(place: LedgerPlace, output: Output, key: Key = None, as_json: Json = False) -> None:
    """Back a ledger up, whoever else is using it.

    Example: discreet ledger backup ledger.db -o ledger.backup
    """
    from discreet.ledger.backups import backup
    from discreet.views.ledger_steps import copied_view

    with ledger_at(place) as book:
        count = backup(book, output, signer_at(key))
    show(copied_view(output, count, with_head=True), as_json=as_json)


def bring_back(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A file made by ledger backup.")],
    place: LedgerPlace,
    against: Against = None,
    as_json: Json = False,
) -> None:
    """Restore a backup into an empty place.

    One that is older than what is known elsewhere is refused.

    Example: discreet ledger restore ledger.backup restored.db --against release-2026
    """
    from discreet.ledger.backups import read_backup, restore
    from discreet.publish.evidence import evidence
    from discreet.views.ledger_steps import restored_view

    entries, _ = read_backup(source)
    found = evidence(against or [], entries[0].hash if entries else "")
    count = restore(source, place, found.heads)
    show(restored_view(place, count, len(found.heads)), as_json=as_json)
