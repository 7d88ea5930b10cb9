"""A family of mechanisms for cells of many sizes, viewed: one row for each member, then the whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.design.questions.family import FamilyDesign, Made
from discreet.model.family import Member, sizes_in_words
from discreet.numerics.digits import about, at_most, between
from discreet.views.reliance import family_reliance
from discreet.views.view import Block, Grid, Sentence, View, mind

MOST_ROWS = 40
ENDS = {"cancelled": "time was up", "optimal": "gap reached"}
"""How the search for a member ended, in words."""


def family_view(found: FamilyDesign) -> View:
    """The members and what they lose on average over the cells."""
    pairs = list(zip(found.family.members, found.made, strict=True))
    facts = {
        "sizes": found.family.words,
        "members": [
            {
                "from": member.low,
                "to": member.high,
                "losses": {n: -float(v) for n, v in member.values},
                "relative_gap": how.relative_gap,
                "seconds": how.seconds,
                "status": how.status,
                "cached": how.cached,
                "padded": member.padded,
            }
            for member, how in pairs
        ],
        "missing": [list(r) for r in found.missing],
        "loss_per_cell": found.loss_per_cell,
        "within_1e-6": found.share_within(1e-6),
        "seconds": found.seconds,
    }
    hedged = all(member.mechanism.provenance.get("reduction") == "hedge" for member in found.family.members)
    known = [how.reliance for how in found.made if how.reliance is not None]
    view = View(facts, tuple(_told(found, pairs)))
    return view + family_reliance(known, hedged) if known else view


def _told(found: FamilyDesign, pairs: Sequence[tuple[Member, Made]]) -> Iterator[Block]:
    yield Grid(("size", "expected loss", "gap", "time", "from"), [_row(*pair) for pair in pairs[:MOST_ROWS]], left=0)
    if len(pairs) > MOST_ROWS:
        yield Sentence(f"… and {len(pairs) - MOST_ROWS} more.")
    gaps = sorted(how.relative_gap for _, how in pairs)
    plain = {how.reliance.plain for how in found.made if how.reliance is not None and how.reliance.plain is not None}
    beside = "" if not plain else f", where plain noise loses {between(min(plain), max(plain), 4)}"
    yield Sentence(
        f"{len(pairs)} mechanisms for sizes {found.family.words}: each proved within {at_most(gaps[-1], 2)} of the best possible, "
        f"half of them within {at_most(gaps[len(gaps) // 2], 2)}; {about(found.loss_per_cell, 6)} expected loss per cell{beside}; "
        f"{about(found.seconds, 3)} s."
    )
    if found.missing:
        yield mind(f"it was stopped before sizes {sizes_in_words(found.missing)}; run again to go on from here.")


def _row(member: Member, how: Made) -> tuple[str, ...]:
    losses = [-value for _, value in member.values]
    size = str(member.low) if not member.padded else f"{member.low}-{member.high} (padded)"
    loss = at_most(losses[0]) if len(losses) == 1 else f"{about(min(losses))} to {at_most(max(losses), 4)}"
    end = "kept" if how.cached else ENDS.get(how.status, how.status)
    return size, loss, at_most(how.relative_gap, 2), f"{about(how.seconds, 3)} s", end
