"""Ledgers and keys as the command line names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.ledger.book import Ledger
    from discreet.ledger.keys import Signer
    from discreet.model.plan import Plan

LedgerPlace = Annotated[str, typer.Argument(metavar="LEDGER", help="A ledger file or a PostgreSQL address.")]
Key = Annotated[str | None, typer.Option(metavar="KEY", help="A key to sign with: a file, pkcs11:… or agent:….")]
"""The option of every command that signs: `key: Key = None`."""


def ledger_at(given: str | None, plan: Plan | None = None, signer: Signer | None = None) -> Ledger:
    """The ledger that was named, or the plan's."""
    from discreet.ledger.book import open_ledger

    place = given or (plan.ledger if plan is not None else "")
    if not place:
        raise InputError(
            "No ledger is named",
            found="neither --ledger nor budget.ledger",
            allowed="a path or a PostgreSQL address",
            remedy="make one with: discreet ledger init",
        )
    return open_ledger(place, signer=signer)


def signer_at(place: str | None) -> Signer | None:
    """The key at a place, when one is named."""
    from discreet.ledger.keys import Signer

    return None if place is None else Signer.read(place)


def is_file_name(place: str) -> bool:
    """Whether a key is named as a file."""
    return not place.startswith(("pkcs11:", "agent:"))
