"""`discreet ledger key|rotate|revoke`: whom a ledger trusts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.places import LedgerPlace, is_file_name, ledger_at


def key(
    place: Annotated[str, typer.Argument(metavar="KEY", help="A key file, pkcs11:… or agent:….")],
    new: Annotated[bool, typer.Option("--new", help="Make the key file.")] = False,
    as_json: Json = False,
) -> None:
    """Show the public half of a key and its fingerprint.

    Example: discreet ledger key publisher.pem
    """
    from discreet.ledger.keys import Signer
    from discreet.views.ledger_steps import key_view

    signer = Signer.create(place) if new and is_file_name(place) else Signer.read(place)
    show(key_view(signer), as_json=as_json)


def rotate(
    place: LedgerPlace,
    old: Annotated[str, typer.Option(metavar="KEY", help="The key that is trusted now.")],
    new: Annotated[
        str, typer.Option(metavar="KEY", help="The new key; a file is made when it does not exist. Or its public half.")
    ],
    as_json: Json = False,
) -> None:
    """Name a new key, signed by the old one.

    Example: discreet ledger rotate ledger.db --old publisher.pem --new publisher-2027.pem
    """
    from discreet.ledger.keys import Signer, is_public
    from discreet.views.ledger_steps import rotated_view

    trusted = Signer.read(old)
    with ledger_at(place) as book:
        if is_public(new):
            public = new
        elif is_file_name(new) and not Path(new).exists():
            public = Signer.create(new).public
        else:
            public = Signer.read(new).public
        entry = book.rotate(trusted, public)
        view = rotated_view(place, book.state, entry, public)
    show(view, as_json=as_json)


def revoke(
    place: LedgerPlace,
    fingerprint: Annotated[str, typer.Option(help="The fingerprint of the key to stop trusting.")],
    key: Annotated[str, typer.Option(metavar="KEY", help="A trusted key to sign with.")],
    as_json: Json = False,
) -> None:
    """Stop trusting a key from here on.

    Example: discreet ledger revoke ledger.db --fingerprint 5f3c… --key publisher-2027.pem
    """
    from discreet.ledger.keys import Signer
    from discreet.views.ledger_steps import revoked_view

    with ledger_at(place) as book:
        book.revoke(fingerprint, Signer.read(key))
    show(revoked_view(fingerprint), as_json=as_json)
