"""`discreet commit PLAN`: bind plan, key set and mechanism in the ledger before any data is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.places import ledger_at, signer_at

if TYPE_CHECKING:
    from rich.console import Console


def command(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan file (TOML).")],
    ledger: Annotated[str | None, typer.Option(help="The ledger; by default the plan's budget.ledger.")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="A key file to sign with.")] = None,
    as_json: Json = False,
) -> None:
    """Commit to a plan in the ledger, before any data is seen.

    Proves the plan's mechanisms and records the hashes of plan, key set and mechanisms.

    Example: discreet commit plan.toml --key publisher.pem
    """
    from discreet.publish.bundle import gather
    from discreet.publish.commitment import commit

    bundle = gather(plan)
    with ledger_at(ledger, bundle.plan) as book:
        entry = commit(bundle, book, signer_at(key))
        remaining = book.remaining(bundle.plan.population, bundle.plan.unit.name)
    result: dict[str, Any] = {
        "commitment": entry.hash,
        "sequence": entry.sequence,
        "cost": bundle.cost.document(),
        "promise": str(bundle.plan.promise),
        "cells": len(bundle.key_set),
        "remaining": remaining,
        "signed": "signature" in entry.event,
    }
    show(result, as_json=as_json, person=lambda console: tell(result, plan, console))


def tell(result: dict[str, Any], plan: Path, console: Console) -> None:
    """The commitment for a person."""
    console.print(f"Committed: {result['commitment']}", soft_wrap=True)
    console.print(f"  promise  {result['promise']}")
    console.print(f"  cells    {result['cells']:,}")
    console.print(
        f"  cost     ε = {result['cost']['epsilon']} when published; {float(result['remaining']):g} remains now"
    )
    console.print(f"  signed   {'yes' if result['signed'] else 'no (give --key to sign)'}")
    console.print(f"Next: discreet publish {plan} -o RELEASE", soft_wrap=True)
