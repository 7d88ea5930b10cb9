"""`discreet publish PLAN -o DIR`: draw once for each cell and write a release that anyone can verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.places import ledger_at, signer_at
from discreet.errors import InputError
from discreet.watch import Silent

if TYPE_CHECKING:
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
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="DIR", help="The new release folder.")] = None,
    ledger: Annotated[str | None, typer.Option(help="The ledger; by default the plan's budget.ledger.")] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="A key to sign with, when the ledger has keys: a file, pkcs11:… or agent:…."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="KEPT", help="Releases, head files or places that keep heads: refused if the ledger lacks one."),
    ] = None,
    engine: Annotated[str, typer.Option(help="What counts the rows: duckdb, spark or reference.")] = "duckdb",
    commitment: Annotated[str | None, typer.Option(help="Which commitment, when there are several.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show plan and cost; open no data, spend nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Publish a committed plan: prove, reserve, count, draw, write.

    A restart finishes what was drawn or burns it.

    Example: discreet publish plan.toml -o release-2026 --key publisher.pem
    """
    from discreet.engines import engine_named
    from discreet.publish.bundle import gather
    from discreet.publish.commitment import find_commitment
    from discreet.publish.evidence import must_agree
    from discreet.publish.release import publish
    from discreet.views.releases import publication_view

    bundle = gather(plan)
    with ledger_at(ledger, bundle.plan) as book:
        kept = must_agree(book, against or [])
        found = find_commitment(bundle, book, commitment)
        result: dict[str, Any] = {
            "commitment": found.name,
            "currency": book.state.currency,
            "cost": bundle.cost.document(),
            "promise": str(bundle.plan.exposure),
            "cells": len(bundle.key_set),
            "remaining": book.remaining(bundle.plan.population, bundle.plan.unit.name),
        }
        if against:
            result["against"] = kept
        if dry_run:
            result["granted"] = book.grants(found.name, found.member)
        if found.batch is not None:
            result["batch"] = _batch(found, book)
        if not dry_run:
            if output is None:
                raise InputError("A release needs a folder", found="no -o", allowed="-o DIR", remedy="name a new folder")
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
    show(publication_view(result), as_json=as_json)


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
