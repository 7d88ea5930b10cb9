"""`discreet publish PLAN -o DIR`: draw once for each cell and write a release that anyone can verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, beside, harmless, show
from discreet.cli.places import ledger_at, signer_at
from discreet.errors import InputError
from discreet.watch import Silent

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.ledger.book import Ledger
    from discreet.publish.commitment import Commitment

STEPS = {
    "prove": "proving the mechanisms private again",
    "reserve": "reserving the cost",
    "count": "counting rows by cell and type",
    "spend": "recording that drawing begins",
    "draw": "drawing one output for each cell",
    "stage": "keeping the draws",
    "write": "writing the release",
    "rename": "putting it in its place",
    "record": "recording it in the ledger",
    "tidy": "tidying up",
}


class Steps(Silent):
    """Tells each step on standard error, without times: how long counting took depends on the data."""

    def report(self, *, stage: str, **_unused: Any) -> None:
        """A step begins."""
        sys.stderr.write(f"{STEPS.get(stage, stage)}\n")
        sys.stderr.flush()


def command(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A committed plan file (TOML).")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="The new release folder.")
    ] = None,
    ledger: Annotated[str | None, typer.Option(help="The ledger; by default the plan's budget.ledger.")] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A key file to sign with; needed when the commitment is signed.")
    ] = None,
    engine: Annotated[str, typer.Option(help="What counts the rows: duckdb, spark or reference.")] = "duckdb",
    commitment: Annotated[str | None, typer.Option(help="Which commitment, when there are several.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show plan and cost; open no data, spend nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Publish a committed plan: prove, reserve, count, draw, write.

    A restart finishes what was drawn or burns it.

    Example: discreet publish plan.toml -o release-2026 --key publisher.pem
    """
    from discreet.engines import engine_named
    from discreet.publish.bundle import gather
    from discreet.publish.commitment import find_commitment
    from discreet.publish.release import publish

    bundle = gather(plan)
    with ledger_at(ledger, bundle.plan) as book:
        found = find_commitment(bundle, book, commitment)
        result: dict[str, Any] = {
            "commitment": found.name,
            "currency": book.state.currency,
            "cost": bundle.cost.document(),
            "promise": str(bundle.plan.exposure),
            "cells": len(bundle.key_set),
            "remaining": book.remaining(bundle.plan.population, bundle.plan.unit.name),
        }
        if dry_run:
            result["granted"] = book.grants(found.name, found.member)
        if found.batch is not None:
            result["batch"] = _batch(found, book)
        if not dry_run:
            if output is None:
                raise InputError(
                    "A release needs a folder", found="no -o", allowed="-o DIR", remedy="name a new folder"
                )
            made = publish(
                bundle,
                output,
                book,
                signer=signer_at(key),
                engine=engine_named(engine),
                commitment=found.name,
                watch=Steps(),
            )
            result |= {"release": made, "remaining": book.remaining(bundle.plan.population, bundle.plan.unit.name)}
    show(result, as_json=as_json, person=lambda console: tell(harmless(result), console))


def _batch(found: Commitment, book: Ledger) -> dict[str, Any]:
    """The batch that the plan belongs to, and what of it was drawn on."""
    batch = found.batch
    assert batch is not None and found.member is not None
    taken = book.state.batches[found.name]
    return {
        "name": batch.name,
        "rule": batch.rule,
        "cost": batch.cost.document(),
        "member": found.member + 1,
        "plans": len(batch.members),
        "reserved": len(taken),
        "drawn": None if found.member not in taken else book.reservation(taken[found.member]).stage,
    }


def tell(result: dict[str, Any], console: Console) -> None:
    """The outcome for a person."""
    from discreet.ledger.budget import Cost

    if "release" not in result:
        console.print("Nothing was opened or spent. Publishing would:")
    console.print(f"  promise    {result['promise']}")
    console.print(f"  cells      {result['cells']:,}")
    if "batch" in result:
        _tell_batch(result, console)
    else:
        console.print(f"  cost       {Cost.from_document(result['cost']).brief(result['currency'])}")
    console.print(f"  remaining  {float(result['remaining']):g}")
    if result.get("granted") is False:
        console.print("[yellow]It would be refused now.[/yellow]")
    if "release" in result:
        console.print(f"Published: {result['release']}", soft_wrap=True)
        console.print(f"Next: discreet verify {result['release']}", soft_wrap=True)


def _tell_batch(result: dict[str, Any], console: Console) -> None:
    from discreet.ledger.budget import Cost

    batch = result["batch"]
    cost = Cost.from_document(batch["cost"]).brief(result["currency"])
    place = f"plan {batch['member']} of {batch['plans']} in the batch {batch['name']}"
    console.print(f"  batch      {place}")
    if batch["reserved"]:
        words = f"nothing more: the whole batch ({cost}) is reserved"
    else:
        words = f"{cost} for the whole batch, reserved with this first plan"
    beside(console, "  cost       ", words)
    if batch["drawn"] is not None and "release" not in result:
        console.print(f"  [yellow]This plan was {batch['drawn']} already: a member of a batch is drawn once.[/yellow]")
