"""`discreet commit PLAN`: bind plan, key set and mechanism in the ledger before any data is opened; several plans as a batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.places import Key, ledger_at, signer_at
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.publish.bundle import Bundle


def command(
    plans: Annotated[list[Path], typer.Argument(metavar="PLAN", help="A plan file (TOML); several are one batch.")],
    batch: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the batch of several plans.")] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="The δ that the batch may spend, in the currency approximate; by default half of what is left."),
    ] = None,
    ledger: Annotated[str | None, typer.Option(help="The ledger; by default the first plan's budget.ledger.")] = None,
    key: Key = None,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Seal sizes and hashes of the source's files; publishing then needs the same bytes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Commit to a plan in the ledger, before any data is seen.

    Proves the plan's mechanisms and records the hashes of plan, key set and mechanisms. Several plans become a batch:
    all of them are fixed before the first is drawn, so they may cost less together than one by one.

    Example: discreet commit plan.toml --key publisher.pem
    """
    from discreet.numerics.exact import exact
    from discreet.publish.bundle import gather
    from discreet.publish.commitment import commit, commit_batch
    from discreet.views.releases import commitment_view

    bundles = [gather(plan) for plan in plans]
    first = bundles[0]
    _must_share(ledger, bundles)
    with ledger_at(ledger, first.plan) as book:
        signer = signer_at(key)
        if len(bundles) == 1 and batch is None and delta is None:
            entry = commit(first, book, signer, freeze=freeze)
        else:
            share = None if delta is None else exact(delta, "delta")
            entry = commit_batch(bundles, book, signer, name=batch or _named(bundles), delta=share, freeze=freeze)
        remaining = book.remaining(first.plan.population, first.plan.unit.name)
        currency = str(book.state.currency)
    listed = [
        {
            "plan": plan,
            "promise": str(bundle.plan.exposure),
            "cells": len(bundle.key_set),
            "cost": bundle.cost.document(),
        }
        for plan, bundle in zip(plans, bundles, strict=True)
    ]
    result: dict[str, Any] = {
        "commitment": entry.hash,
        "sequence": entry.sequence,
        "currency": currency,
        "cost": entry.event["cost"],
        "promise": "; ".join(dict.fromkeys(str(one["promise"]) for one in listed)),
        "cells": sum(len(bundle.key_set) for bundle in bundles),
        "remaining": remaining,
        "signed": "signature" in entry.event,
        "frozen": freeze,
    }
    if "members" in entry.event:
        result["batch"] = {"name": entry.event["batch"], "rule": entry.event["rule"], "plans": listed}
    show(commitment_view(result, plans, key), as_json=as_json)


def _named(bundles: Sequence[Bundle]) -> str:
    return f"{bundles[0].plan.dataset} and {len(bundles) - 1} more"


def _must_share(ledger: str | None, bundles: Sequence[Bundle]) -> None:
    """Plans of a batch name one ledger, unless one is given: publishing looks where each plan says."""
    named = sorted({bundle.plan.ledger for bundle in bundles})
    if ledger is None and len(named) > 1:
        raise InputError(
            "The plans of a batch name different ledgers",
            found=", ".join(name or "none" for name in named),
            allowed="one ledger for all",
            remedy="write the same budget.ledger in each, or give --ledger here and when publishing",
        )
