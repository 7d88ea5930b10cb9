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
    from discreet.publish.commitment import commit, commit_batch
    from discreet.publish.release import publish
    from discreet.publish.tables import released_table
    from discreet.publish.verdict import ReleaseVerdict
    from discreet.publish.verification import verify

__all__ = ["Audit", "Bundle", "ReleaseVerdict", "audit", "commit", "commit_batch", "gather", "publish", "released_table", "verify"]

_PLACES = {
    "Audit": "auditing",
    "audit": "auditing",
    "Bundle": "bundle",
    "ReleaseVerdict": "verdict",
    "commit": "commitment",
    "commit_batch": "commitment",
    "gather": "bundle",
    "publish": "release",
    "released_table": "tables",
    "verify": "verification",
}

__getattr__ = on_demand(__name__, _PLACES)
