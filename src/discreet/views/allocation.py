"""A budget split over several statistics, viewed: what each gets, and what no split at all can beat."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.design.questions.allocation import Allocation
from discreet.numerics.digits import about, at_least, at_most, given, number_at_least, number_at_most
from discreet.views.view import Block, Grid, Sentence, View, mind


def allocation_view(found: Allocation) -> View:
    """A row for each statistic, and both sides of the total."""
    key = found.promise.keys[0]
    facts = {
        "budget": found.budget,
        "spent": found.spent,
        "loss": number_at_most(found.loss),
        "lower_bound": number_at_least(found.lower_bound),
        "relative_gap": found.relative_gap,
        "convex": found.convex,
        "parts": [
            {
                "name": part.name,
                key: part.level,
                f"{key}_number": float(part.level),
                "loss": number_at_most(part.loss),
                "lower_bound": number_at_least(part.lower_bound),
                "marginal": part.marginal,
            }
            for part in found.parts
        ],
        "notes": list(found.notes),
    }
    return View(facts, tuple(_told(found)))


def _told(found: Allocation) -> Iterator[Block]:
    letter = found.promise.letter
    rows = [(p.name, given(p.level), at_most(p.loss), "–" if p.marginal is None else about(p.marginal)) for p in found.parts]
    yield Grid(("statistic", letter, "loss", f"gain per further {letter}"), rows)
    yield Sentence(
        f"Weighted loss {at_most(found.loss)} with {letter} = {given(found.spent)} of {given(found.budget)}; proved: no split has "
        f"less than {at_least(found.lower_bound)}, so this one is within {at_most(found.relative_gap, 2)} of the best."
    )
    yield Sentence(f"Each loss is proved for a mechanism designed at exactly this {letter}; none is interpolated.")
    everything = [part.name for part in found.parts if part.level == found.budget]
    if everything and len(found.parts) > 1:
        yield Sentence(f"All of the budget goes to {everything[0]}; the bound says how little any other split could gain.")
    if found.convex:
        yield Sentence("The computed points are consistent with convex frontiers.")
    yield from (mind(f"{note}.") for note in found.notes)
