"""A family of mechanisms for cells of many sizes, viewed: one row for each member, then the whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.design.questions.family import FamilyDesign, Made
from discreet.model.family import Member, sizes_in_words
from discreet.numerics.digits import about, at_most
from discreet.views.view import Block, Grid, Sentence, View, mind

MOST_ROWS = 40


def family_view(found: FamilyDesign) -> View:
    """The members and what they lose on average over the cells."""
    pairs = list(zip(found.family.members, found.made, strict=True))
    facts = {
        "sizes": found.family.words,
        "members": [
            {
                "from": member.low, "to": member.high, "losses": {n: -float(v) for n, v in member.values},
                "relative_gap": how.relative_gap, "seconds": how.seconds, "status": how.status, "cached": how.cached,
                "padded": member.padded,
            }
            for member, how in pairs
        ],
        "missing": [list(r) for r in found.missing],
        "loss_per_cell": found.loss_per_cell,
        "within_1e-6": found.share_within(1e-6),
        "seconds": found.seconds,
    }
    return View(facts, tuple(_told(found, pairs)))


def _told(found: FamilyDesign, pairs: Sequence[tuple[Member, Made]]) -> Iterator[Block]:
    yield Grid(("size", "expected loss", "gap", "time", "from"), [_row(*pair) for pair in pairs[:MOST_ROWS]], left=0)
    if len(pairs) > MOST_ROWS:
        yield Sentence(f"… and {len(pairs) - MOST_ROWS} more.")
    gaps = [how.relative_gap for _, how in pairs]
    yield Sentence(
        f"{len(pairs)} mechanisms for sizes {found.family.words}: each proved within {at_most(max(gaps), 2)} of the best possible, "
        f"{found.share_within(1e-6):.0%} of them within 1e-6; {about(found.loss_per_cell, 6)} expected loss per cell; "
        f"{found.seconds:.1f} s."
    )
    if found.missing:
        yield mind(f"it was stopped before sizes {sizes_in_words(found.missing)}; run again to go on from here.")


def _row(member: Member, how: Made) -> tuple[str, ...]:
    losses = [-value for _, value in member.values]
    size = str(member.low) if not member.padded else f"{member.low}-{member.high} (padded)"
    loss = at_most(losses[0]) if len(losses) == 1 else f"{about(min(losses))} to {at_most(max(losses), 4)}"
    return size, loss, at_most(how.relative_gap, 2), f"{how.seconds:.1f} s", "kept" if how.cached else how.status
