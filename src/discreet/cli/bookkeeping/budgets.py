"""`discreet ledger init|approve|remaining`: budgets and who approves them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.places import Key, LedgerPlace, is_file_name, ledger_at, signer_at
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.ledger.book import Ledger
    from discreet.ledger.keys import Signer


def init(
    place: LedgerPlace,
    population: Annotated[str, typer.Option(help="Whom the data is about; vintages and renamed files share it.")],
    unit: Annotated[str, typer.Option(help="The privacy unit, such as household.")],
    budget: Annotated[str, typer.Option(help="The whole budget: ε, or ρ for zcdp.")],
    currency: Annotated[
        str | None, typer.Option(help="pure (the default), zcdp or approximate; fixed for good.", show_default=False)
    ] = None,
    delta: Annotated[str, typer.Option(help="δ, for the currency approximate.")] = "0",
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="A key file, made when it does not exist; pkcs11:… or agent:….")
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="PUBLIC", help="Another person's public key that the new ledger trusts.")
    ] = None,
    approvals: Annotated[
        int | None, typer.Option(help="How many keys must sign for a budget or a key; fixed for good.", show_default=False)
    ] = None,
    heads: Annotated[
        str | None, typer.Option(metavar="PLACE", help="Where heads are kept: a folder elsewhere, or git:REPOSITORY.")
    ] = None,
    apart: Annotated[
        str | None, typer.Option(metavar="REASON", help="Why another ledger's people of such a name are others.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a ledger and declare a budget in it.

    On an existing ledger one more budget is declared.

    Example: discreet ledger init ledger.db --population "households 2026" --unit household --budget 4 --key publisher.pem
    """
    from discreet.ledger.book import open_ledger
    from discreet.ledger.budget import Budget
    from discreet.numerics.exact import exact
    from discreet.views.ledger_steps import declared_view

    cap, share = exact(budget, "budget"), exact(delta, "delta")
    with open_ledger(place, create=True) as book:
        fixed = book.state.currency
        if fixed is not None:
            _must_agree(fixed, currency, also, approvals, heads)
        Budget(fixed or currency or "pure", cap, share)  # before anything is written or a key is made
        signer = _key_of(book, key)
        if fixed is None:
            book.init(currency or "pure", signer, others=_publics(also), approvals=approvals or 1, heads=heads)
        entry = book.declare(population, unit, cap, share, signer, apart=apart)
        view = declared_view(place, book.state, entry, signer)
    show(view, as_json=as_json)


def _must_agree(fixed: str, asked: str | None, also: list[str] | None, approvals: int | None, heads: str | None) -> None:
    """Refuse on an existing ledger what was fixed when it was made."""
    if asked not in (None, fixed):
        raise InputError(
            "This ledger has another currency",
            found=f"--currency {asked}",
            allowed=f"{fixed}, fixed when the ledger was made",
            remedy="leave --currency out, or make another ledger",
        )
    if also or approvals is not None or heads is not None:
        raise InputError(
            "Keys, approvals and the place for heads are given when a ledger is made",
            found="--also, --approvals or --heads on a ledger that exists",
            allowed="a new ledger",
            remedy="leave them out; see: discreet ledger rotate, discreet ledger heads",
        )


def _publics(also: list[str] | None) -> list[str]:
    from discreet.ledger.keys import is_public

    for public in also or []:
        if not is_public(public):
            raise InputError(
                "This is not a public key",
                found=public,
                allowed="64 hexadecimal digits, as discreet ledger key prints them",
                remedy="ask its owner to run: discreet ledger key KEY",
            )
    return also or []


def _key_of(book: Ledger, place: str | None) -> Signer | None:
    """The key to begin a ledger with, made when it does not exist; on a ledger that exists, one that it knows."""
    from discreet.ledger.keys import Signer

    state = book.state
    if place is None:
        if state.trust.keys:
            raise InputError(
                "A ledger with keys takes only signed budgets",
                found="no --key",
                allowed="a key that the ledger trusts",
                remedy="give --key KEY",
            )
        return None
    if state.currency is None and is_file_name(place) and not Path(place).exists():
        return Signer.create(place)
    signer = Signer.read(place)
    if state.currency is None:
        return signer
    if not state.trust.keys:
        raise InputError(
            "This ledger was made without a key and cannot take one",
            found=f"--key {place}",
            allowed="no --key",
            remedy="leave --key out, or make another ledger",
        )
    state.trust.must_trust(signer.public)
    return signer


def approve(
    place: LedgerPlace,
    entry: Annotated[int, typer.Option(help="The number of the entry that waits, as ledger show lists it.")],
    key: Key = None,
    as_json: Json = False,
) -> None:
    """Sign for a budget or a key that somebody else proposed.

    Example: discreet ledger approve ledger.db --entry 1 --key second.pem
    """
    from discreet.views.ledger_steps import approved_view

    with ledger_at(place, signer=signer_at(key)) as book:
        proposed = book.entry(entry)
        book.approve(proposed.hash)
        view = approved_view(book.state, proposed)
    show(view, as_json=as_json)


def remaining(place: LedgerPlace, as_json: Json = False) -> None:
    """Say what is left of each budget.

    Example: discreet ledger remaining ledger.db
    """
    from discreet.views.bookkeeping import remaining_view

    with ledger_at(place) as book:
        book.must_be_newest()
        show(remaining_view(book.state), as_json=as_json)
