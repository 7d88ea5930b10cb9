"""The ledger: what was promised, reserved and spent, in an order that cannot be changed unseen.

Events are appended to a hash chain in SQLite or PostgreSQL; budgets belong to a population and a privacy unit and are exact
rationals in one currency. Reserve before sampling, spend on drawing, never refund after a draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.ledger.backups import backup, restore
    from discreet.ledger.batches import Batch, BatchMember, compose_batch
    from discreet.ledger.book import Ledger, open_ledger
    from discreet.ledger.budget import Budget, Cost
    from discreet.ledger.chain import Entry, verify_chain
    from discreet.ledger.heads import Head
    from discreet.ledger.keys import Signer

__all__ = [
    "Batch",
    "BatchMember",
    "Budget",
    "Cost",
    "Entry",
    "Head",
    "Ledger",
    "Signer",
    "backup",
    "compose_batch",
    "open_ledger",
    "restore",
    "verify_chain",
]

_PLACES = {
    "Batch": "batches",
    "Budget": "budget",
    "Cost": "budget",
    "Entry": "chain",
    "Head": "heads",
    "Ledger": "book",
    "BatchMember": "batches",
    "Signer": "keys",
    "backup": "backups",
    "compose_batch": "batches",
    "open_ledger": "book",
    "restore": "backups",
    "verify_chain": "chain",
}

__getattr__ = on_demand(__name__, _PLACES)
