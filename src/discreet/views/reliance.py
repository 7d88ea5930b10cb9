"""How far a design may be relied on, viewed: wrong priors beside plain noise, break-evens, and what a hedge would cost.

These numbers are estimates in floats: nobody proves a prior. Break-evens are rounded towards zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from discreet.design.comparison.outcome import Outcome
from discreet.design.memory import words_of
from discreet.design.questions.hedge import NEVER, ROUNDED, Hedged, hedge, why_not_hedged
from discreet.design.questions.reliance import SIZES, Mistake, Reliance, reliance, why_not_known
from discreet.design.result import Design
from discreet.design.schedule import TimeIsUpError
from discreet.design.watchdog import while_time_lasts
from discreet.errors import TooLarge, stopped
from discreet.numerics.digits import about, at_least, at_most, percent_at_least, percent_given
from discreet.views.plain import known
from discreet.views.view import BREAK, Block, Grid, Sentence, View, mind, told
from discreet.watch import Watch

NEAR = 0.5
"""A break-even below this is a warning."""
MAIN = ("higher", "lower", "cells differ")
ROUNDING = 1e-12
"""Biases below this, relative to the error of a value, are what floats leave of 0."""
SHOWN_TYPES = 2
"""Types whose shares are told to a person: those with the nearest break-even or the largest loss; a program gets all."""


def reliance_view(found: Reliance) -> View:
    """What the design loses when its prior is wrong, and when plain noise would be better."""
    facts = {
        "plain_noise": found.plain,
        "own_loss": found.own.loss,
        "mean": found.own.mean,
        "sizes_are_shares_of": found.of,
        "estimated": not found.exact,
        "mistakes": [_facts(mistake) for mistake in found.mistakes],
    }
    return View({"wrong_prior": facts}, tuple(_told(found)))


def relied_on(found: Design, hedged: Hedged | None, watch: Watch) -> View:
    """Wrong priors, without being asked: what the mechanism that is kept loses, and what a hedge would save."""
    mechanism = found.mechanism if hedged is None else hedged.mechanism
    before = View({}, ()) if hedged is None else hedge_view(hedged)
    reason = why_not_known(mechanism)
    if reason is not None:
        return before + unknown_view(reason)
    try:
        view = before + reliance_view(while_time_lasts(lambda: reliance(mechanism), watch))
    except (TimeIsUpError, MemoryError, TooLarge) as error:
        return before + unknown_view(words_of(error))
    if hedged is not None or watch.cancelled() or why_not_hedged(mechanism.problem) is not None:
        return view
    try:
        return view + hedge_advice(hedge(mechanism, found.certificate, watch=watch))
    except TooLarge:
        return view + skipped("what a hedge would cost", TimeIsUpError("none was found and proved in the time"))
    except MemoryError as error:
        return view + skipped("what a hedge would cost", error)


def skipped(what: str, error: Exception) -> View:
    """What was not computed, and why, in words."""
    return told({}, mind(f"{what} was not computed: {words_of(error)}; more --seconds or --memory may do."))


def unknown_view(reason: str) -> View:
    """Where nothing can be said about wrong priors, that is said."""
    return told({"wrong_prior": None}, mind(stopped(f"what this design loses under a wrong prior was not computed: {reason}")))


def _facts(mistake: Mistake) -> dict[str, Any]:
    return {
        "name": mistake.name,
        "words": mistake.words,
        "break_even": mistake.break_even,
        "tried_up_to": mistake.widest,
        "points": [
            {"by": by, "mean": o.mean, "loss": known(o.loss), "bias": None if o.bias is None else known(o.bias)}
            for by, o in mistake.points
        ],
    }


def _told(found: Reliance) -> Iterator[Block]:
    if not found.mistakes:
        return
    heads = ("if the prior is wrong", *(f"by {percent_given(by)}" for by in SIZES), "plain noise better from")
    yield BREAK
    yield Grid(heads, [_row(mistake, found) for mistake in _shown(found.mistakes)])
    if found.plain is None:
        return
    yield Sentence(
        f"Losses (and biases) in truth, under mistakes as shares of the prior's {found.of} {about(found.own.mean)}. Plain noise, "
        f"{found.noise} at face value, loses {at_most(found.plain)} whatever the truth."
    )
    nearest = found.nearest
    if nearest is not None and nearest.break_even is not None:
        once = f"once {nearest.words} by more than about {percent_at_least(nearest.break_even, 2)}"
        if nearest.break_even < NEAR:
            yield mind(f"plain noise is better {once}: this design leans on its prior.")
        else:
            yield Sentence(f"Plain noise is better only {once}.")


def _shown(mistakes: Sequence[Mistake]) -> list[Mistake]:
    """The mean and the spread always; of single types those that matter most."""
    types = [m for m in mistakes if m.name not in MAIN]
    types.sort(key=lambda m: (m.break_even is None, m.break_even or 0.0, -m.worst.loss))
    return [*(m for m in mistakes if m.name in MAIN), *types[:SHOWN_TYPES]]


def _row(mistake: Mistake, found: Reliance) -> tuple[str, ...]:
    at = dict(mistake.points)
    even = "–" if found.plain is None else "none tried" if mistake.break_even is None else percent_at_least(mistake.break_even, 2)
    return (mistake.name, *(_cell(at.get(by)) for by in SIZES), even)


def _cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return "–"
    none = outcome.bias is not None and abs(outcome.bias) < ROUNDING * max(1.0, abs(outcome.loss)) ** 0.5
    bias = "" if outcome.bias is None else " (0)" if none else f" ({about(outcome.bias, 2, signed=True)})"
    return about(outcome.loss, 4) + bias


def family_reliance(found: Sequence[Reliance], hedged: bool) -> View:
    """The same for a family: the nearest break-even of all members, and the worst loss against plain noise."""
    nearest = [(r.nearest.break_even, r) for r in found if r.nearest is not None and r.nearest.break_even is not None]
    facts: dict[str, Any] = {"members": len(found), "break_even": min((even for even, _ in nearest), default=None)}
    facts["plain_noise"] = [min(p), max(p)] if (p := [r.plain for r in found if r.plain is not None]) else None
    if not nearest:
        return told({"wrong_prior": facts}, Sentence("No mistake about the prior that was tried makes plain noise better."))
    even, worst = min(nearest, key=lambda pair: pair[0])
    most = max(even for even, _ in nearest)
    assert worst.nearest is not None
    span = percent_at_least(even, 2) if even == most else f"{percent_at_least(even, 2)} to {percent_at_least(most, 2)}"
    words = (
        f"in {len(nearest)} of {len(found)} members plain noise is better once the prior is wrong by more than about {span}, "
        f"depending on the size; soonest when {worst.nearest.words}."
    )
    warned = even < NEAR and not hedged
    return told({"wrong_prior": facts}, mind(f"{words} --hedge guards against that.") if warned else Sentence(f"I{words[1:]}"))


def hedge_view(found: Hedged) -> View:
    """The hedged design: its price if the prior is right, what it saves if not."""
    facts = {
        "radius": found.radius,
        "loss": float(found.loss),
        "price": float(found.price),
        "reading": found.reading,
        "worst": found.worst,
        "worst_unhedged": found.worst_unhedged,
        "plain_noise": found.noise,
        "limit": _limit_facts(found),
        "means": list(found.truths),
        "losses": list(found.losses),
        "unhedged": list(found.unhedged),
    }
    limit = "" if found.noise is None else f"; plain noise loses {at_most(found.noise)}"
    return told(
        {"hedge": facts},
        Sentence(f"Hedged against a mean that is off by {percent_given(found.radius)}, and cells that differ: {found.reading}."),
        Sentence(
            f"It loses {at_most(found.loss)} if the prior is right (proved; {about(found.price, 3, signed=True)} for the hedge), "
            f"and about {about(found.worst)} at worst in that neighbourhood, where the design loses up to "
            f"{about(found.worst_unhedged)}{limit}."
        ),
        *_limit_told(found),
    )


def _limit_facts(found: Hedged) -> dict[str, Any] | None:
    limit = found.limit
    if limit is None:
        return None
    return {"loss": limit.loss, "lowest": limit.lowest, "highest": limit.highest, "whatever_the_data": limit.whole}


def _limit_told(found: Hedged) -> Iterator[Block]:
    """What it loses at most whatever the data; where nothing can be said, that."""
    limit, noise = found.limit, found.noise
    if limit is None or noise is None:
        yield mind("no limit is known that holds whatever the data: the neighbourhood is all that this hedge guards.")
        return
    where = (
        "Whatever the data" if limit.whole else f"Whatever a cell between {about(limit.lowest)} and {about(limit.highest)} holds"
    )
    times = f"{at_most(limit.loss / noise, 3)} times plain noise" if limit.loss > noise * ROUNDED else "as plain noise"
    words = f"{where}, it loses at most {at_most(limit.loss)}, {times}."
    yield mind(f"w{words[1:]}") if limit.loss > NEVER * noise else Sentence(words)


def _at_worst(found: Hedged) -> str:
    limit = found.limit
    if limit is not None and limit.whole and found.noise is not None and limit.loss <= NEVER * found.noise:
        return f"at most {at_most(limit.loss)} whatever the data (plain noise {at_most(found.noise)})"
    return f"about {about(found.worst)} at worst"


def hedge_advice(found: Hedged) -> View:
    """One line with both numbers: what a hedge would cost, and what it would save."""
    facts = {
        "radius": found.radius,
        "loss": float(found.loss),
        "price": float(found.price),
        "worst": found.worst,
        "worst_unhedged": found.worst_unhedged,
        "limit": _limit_facts(found),
    }
    option, radius = f"--hedge {percent_given(found.radius).replace(' ', '')}", percent_given(found.radius)
    both = f"{at_most(found.loss)} if the prior is right instead of {at_least(found.unhedged_loss)}"
    limited = found.limit is not None and found.noise is not None and found.limit.loss <= NEVER * found.noise
    if limited and found.worst >= found.worst_unhedged:
        words = f"if cells may lie far beyond what the prior expects, hedge: {option} loses {both}, and {_at_worst(found)}."
        return told({"hedge_advice": facts}, Sentence(f"I{words[1:]}"))
    if found.noise is not None and found.worst > NEVER * found.noise:
        stays = f"no hedge that was tried stays near its {at_most(found.noise)}."
        return told({"hedge_advice": facts}, mind(f"unless the prior is known this well, publish plain noise: {stays}"))
    if found.worst >= found.worst_unhedged:
        return told({"hedge_advice": facts})
    words = (
        f"unless the prior was learned from such tables, hedge: {option} loses {both}, but {_at_worst(found)} instead of "
        f"{about(found.worst_unhedged)} if the mean is off by up to {radius}."
    )
    return told({"hedge_advice": facts}, mind(words))


__all__ = ["NEVER", "family_reliance", "hedge_advice", "hedge_view", "reliance_view", "relied_on", "skipped", "unknown_view"]
