"""Publish: the one path from committed plan to released folder.

    gather → prove → find commitment → reserve → count → spend → draw → stage → write → rename → record → tidy

Nothing after the commitment depends on a private value but the draws themselves: no abort, no warning, no log line, no time in
the ledger. Everything written derives from the staged draws. A restart with a sealed stage finishes that release; without one
the reservation is burned. Only while nothing was drawn, and only when discreet itself refuses (a missing file, a column that is
not there; never for want of memory), is a reservation given back. `step` is told the name of each step before it happens:
tests kill the process there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines import Engine, fitted, histograms
from discreet.errors import DiscreetError, InputError, TooLarge, UnreadableRows
from discreet.files.atomic import sync_folder
from discreet.ledger.book import Ledger
from discreet.ledger.keys import Signer, fingerprint
from discreet.ledger.state import Reservation
from discreet.numerics.arrays import Integers
from discreet.publish.bundle import Bundle
from discreet.publish.commitment import Commitment, find_commitment
from discreet.publish.evidence import must_agree
from discreet.publish.folder import carried, changed_since, write_folder
from discreet.publish.sources import must_be_committed, private_list
from discreet.publish.staging import Stage
from discreet.sampling import draw_outputs
from discreet.watch import SILENT, Watch

STEPS = ("prove", "reserve", "count", "spend", "draw", "stage", "write", "rename", "record", "tidy")
BEARING = ("init", "format", "key", "revoke")
"""Events that say which keys are trusted; every release carries them."""


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
    against: Sequence[str] = (),
    watch: Watch = SILENT,
    step: Callable[[str], None] | None = None,
) -> Path:
    """Draw once for each cell and write the release folder; returns its path.

    `counts` hands over histograms [cell, type] that were made elsewhere: their unit bound is then attested, not enforced.
    `against` names releases, head files and places that keep heads: a ledger that lacks one of them was rolled back.
    """
    target = Path(folder)
    signer = signer or ledger.signer

    def begin(name: str) -> None:
        watch.report(stage=name)
        if step is not None:
            step(name)

    begin("prove")
    must_agree(ledger, against)
    committed = find_commitment(bundle, ledger, commitment)
    _must_have_a_place(target)
    with Stage.of(target) as stage:
        try:
            if _completed(target, ledger, committed, stage, signer):
                return target
            _must_be_free(target)
            _must_fit(bundle, counts)
            _must_sign(committed, ledger, signer)
            proofs = bundle.prove()
            unfinished = _unfinished(ledger, committed, stage, signer)
        except DiscreetError:
            if stage.attempt() is None and not stage.holds_draws:
                stage.remove()
            raise

        def count() -> Integers:
            begin("count")
            return _counted(bundle, committed, counts, frame, engine)

        reservation, positions = unfinished or _drawn(bundle, count, ledger, committed, stage, signer, begin)
        begin("write")
        prepared = target.parent / f".{target.name}.part"
        shutil.rmtree(prepared, ignore_errors=True)
        document = _ledger_document(ledger, committed.name, reservation, signer)
        digest = write_folder(prepared, bundle, proofs, positions, document, counts is not None, signer)
        stage.note_written(digest)
        begin("rename")
        _move(prepared, target)
        begin("record")
        ledger.release(reservation, digest, signer)
        begin("tidy")
        stage.remove()
    return target


def _drawn(
    bundle: Bundle,
    count: Callable[[], Integers],
    ledger: Ledger,
    committed: Commitment,
    stage: Stage,
    signer: Signer | None,
    begin: Callable[[str], None],
) -> tuple[str, Integers]:
    """Reserve, count, spend, draw, and keep what was drawn: the reservation and one output for each cell."""
    begin("reserve")
    reservation = _reserved(ledger, committed, stage, signer)
    found = _or_withdrawn(count, ledger, reservation, stage, signer)
    begin("spend")
    ledger.spend(reservation, signer)
    begin("draw")
    positions = bundle.draw(found, draw_outputs)
    begin("stage")
    stage.keep(positions)
    return reservation, positions


def _counted(
    bundle: Bundle, committed: Commitment, counts: NDArray[np.integer] | None, frame: object, engine: Engine | None
) -> Integers:
    """The histograms of the committed source, or those that were handed over."""
    if counts is None:
        must_be_committed(bundle.plan.source, committed.attested, bundle.path and private_list(bundle.path))
        return histograms(bundle.plan, bundle.key_set, key=committed.row_key, frame=frame, engine=engine)
    # Whatever was handed over, every cell gets its declared size: counts below 0 are read as 0.
    return fitted(bundle.plan, bundle.key_set, np.maximum(counts, 0).astype(np.int64), committed.row_key)


def _completed(target: Path, ledger: Ledger, committed: Commitment, stage: Stage, signer: Signer | None) -> bool:
    """Whether the folder is the one that was written from this stage, and an interruption came before the end: ended now."""
    begun = stage.attempt()
    if begun is None or not target.exists():
        return False
    try:
        _, name, digest = carried(target)
    except InputError:
        return False
    held = ledger.state.reservations.get(name)
    if held is None or held.attempt != begun[1] or not _is_of(held, committed) or held.stage not in ("spent", "released"):
        return False
    if held.stage == "released" and held.release == digest and stage.written is None:
        stage.remove()  # killed while it was tidying up
        return True
    changed = changed_since(target)
    if digest != stage.written or changed is not None:
        raise InputError(
            "The release folder is not the one that was written before the interruption",
            found="another manifest" if changed is None else str(changed.found),
            allowed="the folder as it was written",
            remedy="move it away, then run the same command again: the draws are kept",
        )
    if held.stage == "spent":
        ledger.release(name, digest, signer)
    stage.remove()
    return True


def _reserved(ledger: Ledger, committed: Commitment, stage: Stage, signer: Signer | None) -> str:
    """A reservation under a name that the stage knows; when it is refused the stage goes, unless nobody knows whether it was."""
    attempt = stage.begin(ledger.state.trust.ledger)
    try:
        return ledger.reserve(committed.name, committed.member, signer, attempt=attempt).hash
    except DiscreetError:
        if _held(ledger, attempt) is None:
            stage.remove()
        raise


def _held(ledger: Ledger, attempt: str) -> tuple[str, Reservation] | None:
    """The reservation of an attempt."""
    held = ((name, found) for name, found in ledger.state.reservations.items() if found.attempt == attempt)
    return next(held, None)


def _must_be_free(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise InputError(
            "The release folder exists already",
            found=str(target),
            allowed="a new folder",
            remedy="choose another name; releases are never overwritten",
        )


def _must_have_a_place(target: Path) -> None:
    if not target.parent.is_dir():
        raise InputError(
            "The folder for the release does not exist",
            found=str(target.parent),
            allowed="a folder that exists",
            remedy="make it first",
        )


def _must_sign(committed: Commitment, ledger: Ledger, signer: Signer | None) -> None:
    """What was committed with a signature is released with one, by the same publisher: without it nobody could verify it."""
    trust = ledger.state.trust
    if signer is not None:
        trust.must_trust(signer.public)
    if committed.publisher is None:
        return
    publisher = fingerprint(committed.publisher)
    if signer is None or signer.fingerprint not in trust.named_from(publisher):
        raise InputError(
            "The commitment of this plan is signed, and its release must be signed by the same publisher",
            found="no key" if signer is None else f"the key {signer.fingerprint}",
            allowed=f"the key {publisher}, or one that it named in this ledger",
            remedy="publish with: --key FILE",
        )


def _must_fit(bundle: Bundle, counts: NDArray[np.integer] | None) -> None:
    """Histograms from elsewhere have the right shape; what they hold is never a reason to refuse."""
    if counts is None:
        return
    wanted = (len(bundle.key_set), bundle.plan.recoding.types)
    if np.shape(counts) != wanted or not np.issubdtype(np.asarray(counts).dtype, np.integer):
        raise InputError(
            "The histograms are not one row of whole numbers for each cell",
            found=f"shape {np.shape(counts)} of {np.asarray(counts).dtype}",
            allowed=f"shape {wanted} of integers",
            remedy="give counts [cell, type] in the order of the key set",
        )


def _or_withdrawn(count: Callable[[], Integers], ledger: Ledger, reservation: str, stage: Stage, signer: Signer | None) -> Integers:
    """The histograms; when discreet refuses, in its own words and so for no private reason, the reservation is given back.

    Not so when memory ran out or a source broke off while its rows were read: a single value can do that.
    """
    try:
        return count()
    except DiscreetError as error:
        if not isinstance(error, TooLarge | UnreadableRows) and ledger.reservation(reservation).stage == "reserved":
            ledger.withdraw(reservation, signer)
            stage.remove()
        raise


def _is_of(held: Reservation, committed: Commitment) -> bool:
    """Whether a reservation was made for this plan."""
    return (held.commitment, held.member) == (committed.name, committed.member)


def _unfinished(ledger: Ledger, committed: Commitment, stage: Stage, signer: Signer | None) -> tuple[str, Integers] | None:
    """The attempt that was interrupted while making this folder: finished if its draws are sealed, else burned."""
    ledger_named, attempt = stage.attempt() or (ledger.state.trust.ledger, "")
    here = ledger_named == ledger.state.trust.ledger
    found = _held(ledger, attempt) if here else None
    if found is None and here and not stage.holds_draws:
        return None  # a new stage, or one that was left before anything was reserved
    if found is None or not _is_of(found[1], committed):
        raise InputError(
            "Another publication into this folder was interrupted",
            found="a stage of another commitment or ledger",
            allowed="the same command as before, which ends it",
            remedy="run that command again, or choose another folder",
        )
    name, held = found
    positions = stage.kept()
    if positions is not None and held.stage == "spent":
        return name, positions
    if held.stage in ("released", "withdrawn"):
        return None
    if held.stage != "burned":
        ledger.burn(name, "interrupted before its draws were complete", signer)
    stage.remove()
    raise InputError(
        "An earlier attempt was interrupted while it was drawing, so its budget is spent and nothing can be published from it",
        found="an incomplete stage, now removed",
        allowed="a complete stage",
        remedy="run the same command again to spend the cost once more"
        if committed.member is None
        else "commit this plan again to draw it: a member of a batch is drawn once",
    )


def _move(prepared: Path, target: Path) -> None:
    try:
        prepared.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        raise InputError(
            "The release folder cannot be put in its place",
            found=f"{target}: {error.strerror}",
            allowed="a name that is free, in a folder that can be written to",
            remedy="make the name free, then run the same command again: the draws are kept",
        ) from None


def _ledger_document(ledger: Ledger, commitment: str, reservation: str, signer: Signer | None) -> Mapping[str, Any]:
    """The entries that bear on this commitment, every draw on it among them, and the head, signed when a key is given."""
    state = ledger.state
    made = state.commitments[commitment]
    account = (made["population"], made["unit"])
    mine = {name for name, held in state.reservations.items() if held.commitment == commitment}
    carried: dict[str, dict[str, Any]] = {}
    for entry in ledger.history():
        event = entry.event
        if (
            event["kind"] in BEARING
            or entry.hash == commitment
            or (event["kind"] == "budget" and (event["population"], event["unit"]) == account)
            or event.get("commitment") == commitment
            or event.get("reservation") in mine
            or event.get("entry") in carried
        ):
            carried[entry.hash] = entry.document()
    return {
        "ledger": state.trust.ledger,
        "currency": state.currency,
        "commitment": commitment,
        "reservation": reservation,
        "entries": list(carried.values()),
        "head": ledger.head(signer).document(),
    }
