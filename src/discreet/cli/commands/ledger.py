"""`discreet ledger init|show|remaining|verify|export|rotate|revoke`: the budget and its history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, harmless, show
from discreet.cli.places import ledger_at, signer_at
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.ledger.book import Ledger
    from discreet.ledger.keys import Signer

group = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Keep the budget: make, show, verify, export a ledger.",
)

Place = Annotated[str, typer.Argument(metavar="LEDGER", help="A ledger file or a PostgreSQL address.")]


@group.command("init")
def init(
    place: Place,
    population: Annotated[str, typer.Option(help="Whom the data is about; vintages and renamed files share it.")],
    unit: Annotated[str, typer.Option(help="The privacy unit, such as household.")],
    budget: Annotated[str, typer.Option(help="The whole budget: ε, or ρ for zcdp.")],
    currency: Annotated[
        str | None, typer.Option(help="pure (the default), zcdp or approximate; fixed for good.", show_default=False)
    ] = None,
    delta: Annotated[str, typer.Option(help="δ, for the currency approximate.")] = "0",
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A key file; made when it does not exist.")
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

    cap, share = exact(budget, "budget"), exact(delta, "delta")
    with open_ledger(place, create=True) as book:
        fixed = book.state.currency
        if fixed is not None:
            _must_agree(fixed, currency)
        Budget(fixed or currency or "pure", cap, share)  # before anything is written or a key is made
        signer = _key_of(book, key)
        if fixed is None:
            book.init(currency or "pure", signer)
        book.declare(population, unit, cap, share, signer)
        result: dict[str, Any] = {
            "ledger": place.split("@")[-1],
            "currency": book.state.currency,
            "population": population,
            "unit": unit,
            "budget": budget,
            "fingerprint": None if signer is None else signer.fingerprint,
        }

    def person(console: Any) -> None:
        console.print(f"Budget {budget} ({result['currency']}) for {harmless(population)}, unit: {harmless(unit)}.")
        if signer is not None:
            console.print(f"Publisher's key fingerprint: {signer.fingerprint}", soft_wrap=True)

    show(result, as_json=as_json, person=person)


def _must_agree(fixed: str, asked: str | None) -> None:
    """Refuse another currency than the ledger's own."""
    if asked not in (None, fixed):
        raise InputError(
            "This ledger has another currency",
            found=f"--currency {asked}",
            allowed=f"{fixed}, fixed when the ledger was made",
            remedy="leave --currency out, or make another ledger",
        )


def _key_of(book: Ledger, path: Path | None) -> Signer | None:
    """The key to begin a ledger with, made when it does not exist; on a ledger that exists, one that it knows."""
    from discreet.ledger.keys import Signer

    state = book.state
    if path is None:
        if state.trust.keys:
            raise InputError(
                "A ledger with keys takes only signed budgets",
                found="no --key",
                allowed="a key that the ledger trusts",
                remedy="give --key FILE",
            )
        return None
    if state.currency is None:
        return Signer.read(path) if path.exists() else Signer.create(path)
    signer = Signer.read(path)
    if not state.trust.keys:
        raise InputError(
            "This ledger was made without a key and cannot take one",
            found=f"--key {path}",
            allowed="no --key",
            remedy="leave --key out, or make another ledger",
        )
    state.trust.must_trust(signer.public)
    return signer


@group.command("show")
def history(place: Place, as_json: Json = False) -> None:
    """List every entry.

    Example: discreet ledger show ledger.db
    """
    with ledger_at(place) as book:
        entries = [entry.document() for entry in book.history()]

    currency = next((str(entry["event"]["currency"]) for entry in entries if "currency" in entry["event"]), "pure")
    names = {entry["hash"]: entry["event"]["batch"] for entry in entries if "batch" in entry["event"]}

    def person(console: Any) -> None:
        for entry in entries:
            event = entry["event"]
            console.print(
                f"{entry['sequence']:>5}  {entry['time'][:19]}  {event['kind']:<9} {harmless(_detail(event, names, currency))}",
                soft_wrap=True,
            )

    show({"entries": entries}, as_json=as_json, person=person)


def _detail(event: dict[str, Any], names: dict[str, str], currency: str) -> str:
    """What an event is about, in a few words."""
    from discreet.ledger.budget import Cost

    population = str(event.get("population", ""))[:40]
    if event["kind"] == "budget":
        delta = f", δ = {event['delta']}" if "delta" in event else ""
        return f"{population} ({event['unit']}): {event['cap']}{delta}"
    if event["kind"] == "commit":
        batch = f", batch {event['batch']}, {len(event['members'])} plans" if "members" in event else ""
        return f"{population}: {Cost.from_document(event['cost']).brief(currency)}{batch}"
    if "member" in event:
        return f"plan {event['member'] + 1} of batch {names.get(event['commitment'], event['commitment'][:16])}"
    return str(event.get("currency") or event.get("reservation", event.get("commitment", "")))[:40]


@group.command("remaining")
def remaining(place: Place, as_json: Json = False) -> None:
    """Say what is left of each budget.

    Example: discreet ledger remaining ledger.db
    """
    with ledger_at(place) as book:
        state = book.state
        rows: list[dict[str, Any]] = [
            {
                "population": account[0],
                "unit": account[1],
                "currency": budget.currency,
                "cap": budget.cap,
                "remaining": budget.remaining(state.spent[account]),
            }
            | ({"remaining_delta": budget.remaining_delta(state.spent[account])} if budget.delta else {})
            for account, budget in state.budgets.items()
        ]

    def person(console: Any) -> None:
        for row in harmless(rows):
            delta = f", δ = {float(row['remaining_delta']):g} left" if "remaining_delta" in row else ""
            console.print(
                f"{row['population']} ({row['unit']}): {float(row['remaining']):g} of {float(row['cap']):g} left, "
                f"{row['currency']}{delta}",
                soft_wrap=True,
            )

    show({"budgets": rows}, as_json=as_json, person=person)


@group.command("verify")
def check(
    place: Place,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="RELEASE", help="Release folders whose heads and hashes must be in the chain."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay the whole ledger and check every rule.

    Also checks the hash chain, the signatures, and the heads that releases carry.

    Example: discreet ledger verify ledger.db --against release-2026
    """
    from discreet.publish.folder import carried, changed_since

    kept = [carried(folder) for folder in against or []]
    heads = [head for head, _, _ in kept]
    with ledger_at(place) as book:
        changed = (changed_since(folder) for folder in against or [])
        wrong = next((found for found in changed if found is not None), None)
        wrong = wrong or book.verify(heads, {reservation: digest for _, reservation, digest in kept})
        count = book.state.next if wrong is None else None

    def person(console: Any) -> None:
        if wrong is None:
            console.print(f"[green]Holds:[/green] {count} entries, {len(heads)} heads from releases.")
        else:
            console.print(f"[red]Refuted:[/red] {harmless(wrong.words)}.")

    show({"holds": wrong is None, "entries": count, "counterexample": wrong}, as_json=as_json, person=person)
    if wrong is not None:
        raise typer.Exit(1)


@group.command("export")
def export(
    place: Place,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")],
    as_json: Json = False,
) -> None:
    """Write every entry as one line of JSON, for keeping elsewhere.

    Example: discreet ledger export ledger.db -o ledger.jsonl
    """
    with ledger_at(place) as book:
        count = book.export(output)
    show(
        {"file": output, "entries": count},
        as_json=as_json,
        person=lambda c: c.print(f"{count} entries written to {output}"),
    )


@group.command("rotate")
def rotate(
    place: Place,
    old: Annotated[Path, typer.Option(metavar="FILE", help="The key that is trusted now.")],
    new: Annotated[Path, typer.Option(metavar="FILE", help="The new key file; made when it does not exist.")],
    as_json: Json = False,
) -> None:
    """Name a new key, signed by the old one.

    Example: discreet ledger rotate ledger.db --old publisher.pem --new publisher-2027.pem
    """
    from discreet.ledger.keys import Signer

    trusted = signer_at(old)
    assert trusted is not None
    with ledger_at(place) as book:
        fresh = Signer.read(new) if new.exists() else Signer.create(new)
        book.rotate(trusted, fresh.public)
    show(
        {"fingerprint": fresh.fingerprint},
        as_json=as_json,
        person=lambda c: c.print(f"New key: {fresh.fingerprint}"),
    )


@group.command("revoke")
def revoke(
    place: Place,
    fingerprint: Annotated[str, typer.Option(help="The fingerprint of the key to stop trusting.")],
    key: Annotated[Path, typer.Option(metavar="FILE", help="A trusted key to sign with.")],
    as_json: Json = False,
) -> None:
    """Stop trusting a key from here on.

    Example: discreet ledger revoke ledger.db --fingerprint 5f3c… --key publisher-2027.pem
    """
    with ledger_at(place) as book:
        trusted = signer_at(key)
        assert trusted is not None
        book.revoke(fingerprint, trusted)
    show({"revoked": fingerprint}, as_json=as_json, person=lambda c: c.print(f"Revoked: {fingerprint}"))
