"""Publish: the one path from committed plan to released folder.

    gather → prove → find commitment → reserve → count → spend → draw → stage → write → rename → record → tidy

Nothing after the commitment depends on a private value but the draws themselves: no abort, no warning, no log line. Everything
written derives from the staged draws. A restart with a sealed stage finishes that release; without one the reservation is burned.
`step` is told the name of each step before it happens: tests kill the process there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines import Engine, histograms
from discreet.errors import InputError
from discreet.files.atomic import sync_folder
from discreet.ledger.book import Ledger
from discreet.ledger.keys import Signer
from discreet.publish.bundle import Bundle
from discreet.publish.commitment import find_commitment, row_key
from discreet.publish.folder import reservation_in, write_folder
from discreet.publish.staging import Stage
from discreet.sampling import draw_outputs
from discreet.watch import SILENT, Watch

STEPS = ("prove", "reserve", "count", "spend", "draw", "stage", "write", "rename", "record", "tidy")


def publish(
    bundle: Bundle,
    folder: str | Path,
    ledger: Ledger,
    *,
    signer: Signer | None = None,
    engine: Engine | None = None,
    frame: object = None,
    counts: NDArray[np.integer] | None = None,
    commitment: str | None = None,
    watch: Watch = SILENT,
    step: Callable[[str], None] | None = None,
) -> Path:
    """Draw once for each cell and write the release folder; returns its path.

    `counts` hands over histograms [cell, type] that were made elsewhere: their unit bound is then attested, not enforced.
    """
    target = Path(folder)
    if _recorded_late(target, ledger):
        return target
    _must_be_free(target)

    def begin(name: str) -> None:
        watch.report(stage=name)
        if step is not None:
            step(name)

    begin("prove")
    proofs = bundle.prove()
    name, event = find_commitment(bundle, ledger, commitment)
    unfinished = _unfinished(ledger, name, target)
    if unfinished is not None:
        reservation, positions = unfinished
    else:
        begin("reserve")
        reservation = ledger.reserve(name).hash
        positions = None
    stage = Stage.of(target, reservation)
    if positions is None:
        stage.open()
        begin("count")
        found = (
            counts
            if counts is not None
            else histograms(bundle.plan, bundle.key_set, key=row_key(event), frame=frame, engine=engine)
        )
        begin("spend")
        ledger.spend(reservation)
        begin("draw")
        positions = bundle.draw(found, draw_outputs)
        begin("stage")
        stage.keep(positions)
    begin("write")
    prepared = target.parent / f".{target.name}.{reservation[:16]}.part"
    shutil.rmtree(prepared, ignore_errors=True)
    digest = write_folder(
        prepared, bundle, proofs, positions, _ledger_document(ledger, name, reservation, signer), counts is not None
    )
    begin("rename")
    prepared.rename(target)
    sync_folder(target.parent)
    begin("record")
    if ledger.reservation(reservation).stage == "spent":
        ledger.release(reservation, digest)
    begin("tidy")
    stage.remove()
    return target


def _recorded_late(target: Path, ledger: Ledger) -> bool:
    """Whether the folder is complete and only its record was lost to an interruption; if so it is recorded now."""
    found = reservation_in(target)
    if found is None:
        return False
    name, digest = found
    if name not in ledger.state.reservations or ledger.reservation(name).stage != "spent":
        return False
    ledger.release(name, digest)
    Stage.of(target, name).remove()
    return True


def _must_be_free(target: Path) -> None:
    if target.exists():
        raise InputError(
            "The release folder exists already",
            found=str(target),
            allowed="a new folder",
            remedy="choose another name; releases are never overwritten",
        )
    if not target.parent.is_dir():
        raise InputError(
            "The folder for the release does not exist",
            found=str(target.parent),
            allowed="a folder that exists",
            remedy="make it first",
        )


def _unfinished(ledger: Ledger, commitment: str, target: Path) -> tuple[str, NDArray[np.int64]] | None:
    """A reservation of this commitment that was interrupted while making this folder: finished if sealed, else burned."""
    for name, held in ledger.state.reservations.items():
        stage = Stage.of(target, name)
        if held.commitment != commitment or held.stage not in ("reserved", "spent") or not stage.folder.exists():
            continue
        positions = stage.kept()
        if positions is not None and held.stage == "spent":
            return name, positions
        ledger.burn(name, "interrupted before its draws were complete")
        stage.remove()
        raise InputError(
            "An earlier attempt was interrupted while it was drawing, so its budget is spent and nothing can be published from it",
            found="an incomplete stage, now removed",
            allowed="a complete stage",
            remedy="run the same command again to spend the cost once more",
        )
    return None


def _ledger_document(ledger: Ledger, commitment: str, reservation: str, signer: Signer | None) -> Mapping[str, Any]:
    """The entries that bear on this commitment, every draw on it among them, and the head, signed when a key is given."""
    entries = [
        entry.document()
        for entry in ledger.history()
        if entry.hash == commitment
        or entry.event.get("commitment") == commitment
        or entry.event.get("reservation") in _reservations(ledger, commitment)
    ]
    return {
        "currency": ledger.state.currency,
        "commitment": commitment,
        "reservation": reservation,
        "entries": entries,
        "head": ledger.head(signer).document(),
    }


def _reservations(ledger: Ledger, commitment: str) -> set[str]:
    return {name for name, held in ledger.state.reservations.items() if held.commitment == commitment}
