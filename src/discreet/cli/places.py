"""Ledgers and keys as the command line names them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.ledger.book import Ledger
    from discreet.ledger.keys import Signer
    from discreet.model.plan import Plan


def ledger_at(given: str | None, plan: Plan | None = None) -> Ledger:
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
    return open_ledger(place)


def signer_at(path: Path | None) -> Signer | None:
    """The key in a file, when one is named."""
    from discreet.ledger.keys import Signer

    return None if path is None else Signer.read(path)
