"""What `Ledger.verify` looks at beside the chain and the rules: costs of batches, and releases kept elsewhere."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.ledger.chain import Entry
from discreet.ledger.state import State
from discreet.model.certificate import Counterexample


def understated(entry: Entry) -> Counterexample | None:
    """A batch whose cost does not follow from its members."""
    if entry.event["kind"] != "commit" or "members" not in entry.event:
        return None
    from discreet.ledger.batches import Batch

    try:
        short = Batch.from_event(entry.event).shortfall()
    except InputError as error:
        short = str(error)
    if short is None:
        return None
    return Counterexample("batch", f"Entry {entry.sequence} commits a batch that costs more than is stated", found=short)


def unrecorded(state: State, reservation: str, digest: str) -> Counterexample | None:
    """A release that the ledger recorded otherwise, or not at all."""
    held = state.reservations.get(reservation)
    if held is not None and held.release == digest:
        return None
    return Counterexample(
        "release",
        "A release differs from the one that the ledger recorded for its draw",
        found=digest,
        allowed="nothing recorded" if held is None or held.release is None else held.release,
    )
