"""Publish: commit before the data is opened, draw once, write a folder that anyone can verify.

`commit(plan, ledger)` binds mechanism, certificate, plan and key set in the ledger, `commit_batch` those of several plans at one
cost; `publish(plan, folder, ledger)` re-proves, reserves, counts, draws into durable staging and writes the release;
`verify(folder)` checks it from the folder alone; `audit(first, second)` bounds ε from below by what was published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.publish.auditing import Audit, audit
    from discreet.publish.bundle import Bundle, gather
    from discreet.publish.cell_regions import by_keys, chosen, listed_regions
    from discreet.publish.cells import PublishedCells, published_cells
    from discreet.publish.commitment import commit, commit_batch
    from discreet.publish.levels import LevelledCells, level_plans, levelled_cells
    from discreet.publish.release import publish
    from discreet.publish.tables import released_table
    from discreet.publish.verdict import ReleaseVerdict
    from discreet.publish.verification import verify

__all__ = [
    "Audit",
    "Bundle",
    "LevelledCells",
    "PublishedCells",
    "ReleaseVerdict",
    "audit",
    "by_keys",
    "chosen",
    "commit",
    "commit_batch",
    "gather",
    "level_plans",
    "levelled_cells",
    "listed_regions",
    "publish",
    "published_cells",
    "released_table",
    "verify",
]

_PLACES = {
    "Audit": "auditing",
    "audit": "auditing",
    "Bundle": "bundle",
    "LevelledCells": "levels",
    "PublishedCells": "cells",
    "ReleaseVerdict": "verdict",
    "by_keys": "cell_regions",
    "chosen": "cell_regions",
    "commit": "commitment",
    "commit_batch": "commitment",
    "gather": "bundle",
    "level_plans": "levels",
    "levelled_cells": "levels",
    "listed_regions": "cell_regions",
    "publish": "release",
    "published_cells": "cells",
    "released_table": "tables",
    "verify": "verification",
}

__getattr__ = on_demand(__name__, _PLACES)
