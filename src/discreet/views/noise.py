"""Whether adding noise to the statistic is optimal, viewed: the answer, its reasons or a witness, and the price."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from discreet.design import design
from discreet.errors import InputError, TooLarge
from discreet.geometry.noise import NoiseAnswer, is_noise_optimal
from discreet.geometry.price import Price, price_of_noise
from discreet.geometry.witness import Witness
from discreet.model.problem import Problem
from discreet.numerics.digits import about, at_least, at_most, given, number_at_least, number_at_most
from discreet.numerics.exact import format_exact
from discreet.views.view import Block, Fact, Mood, Sentence, View
from discreet.views.words import theorem_words
from discreet.watch import SILENT, Watch

MOST_SHOWN = 64
"""The most states of a witness that are written out."""
BY_EXTREME_POINTS, BY_DESIGNS = "concavification over all extreme points", "two designs with their bounds"


def noise_view(problem: Problem, watch: Watch = SILENT, *, price: bool = True, seconds: float = 60.0) -> View:
    """The answer for a problem; with `price` also what noise costs in it, each solve bounded by `seconds`."""
    found = is_noise_optimal(problem)
    facts: dict[str, Any] = {
        "optimal": found.optimal if found.decided else None,
        "theorem": found.theorem,
        "conditions": list(found.conditions),
        problem.promise.keys[0]: problem.promise.level,
    }
    if found.witness is not None:
        facts["witness"] = _witness(found.witness)
    costly = False
    told: list[Block] = []
    if found.optimal:
        facts["price"] = {"at_least": 0.0, "at_most": 0.0, "by": found.theorem}
    elif price:
        try:
            paid, by = _paid(problem, watch, seconds)
        except TooLarge as error:
            facts["price"] = {"not_computed": str(error)}
            told.append(Fact("price", f"not computed: {error}"))
        else:
            facts["price"] = {
                "value": number_at_least(paid.value),
                "bound": number_at_most(paid.bound),
                "oblivious_value": number_at_least(paid.oblivious_value),
                "oblivious_bound": number_at_most(paid.oblivious_bound),
                "at_least": number_at_least(paid.at_least),
                "at_most": number_at_most(paid.at_most),
                "by": by,
            }
            told += _price(paid, by, problem.promise.adjective)
            costly = paid.at_least > 0
    if costly and not found.decided:
        facts["optimal"] = False
    return View(facts, (*_answer(found, problem.promise.level, facts.get("witness"), costly), *told))


def _paid(problem: Problem, watch: Watch, seconds: float) -> tuple[Price, str]:
    """What adding noise costs: exactly where extreme points can be listed, else by two designs with their bounds."""

    def designed(one: Problem) -> tuple[Fraction, Fraction]:
        found = design(one, watch, seconds=seconds, compare=False)
        return found.value, found.bound

    try:
        return price_of_noise(problem), BY_EXTREME_POINTS
    except (TooLarge, InputError):
        return price_of_noise(problem, designed), BY_DESIGNS


def _witness(witness: Witness) -> dict[str, Any]:
    """The pair of values whose odds move too far, and the labelling that moves them."""
    labels = witness.listed.space.labels
    facts: dict[str, Any] = {
        "raised": format_exact(witness.raised),
        "lowered": format_exact(witness.lowered),
        "log_odds_shift": witness.log_shift,
        "states": len(labels),
    }
    if len(labels) <= MOST_SHOWN:
        facts["exponents"] = dict(zip(labels, witness.exponents, strict=True))
    return facts


def _answer(found: NoiseAnswer, level: Fraction, witness: dict[str, Any] | None, costly: bool) -> Iterator[Block]:
    """What is known without solving anything, or from a price that is proved to be one."""
    if found.optimal:
        yield Sentence("adding noise to the statistic loses nothing, for any decision.", "Yes:", Mood.GOOD)
    elif not found.decided and costly:
        yield Sentence("adding noise to the statistic is not optimal for this decision: its price is proved.", "No:", Mood.BAD)
    elif not found.decided:
        yield Sentence("whether adding noise to the statistic can be optimal under ρ is not decided here.", "Not known:", Mood.BAD)
    else:
        yield Sentence("adding noise to the statistic is not always optimal here.", "No:", Mood.BAD)
    yield Fact("by", theorem_words(found.theorem))
    yield from (Fact("checked", condition) for condition in found.conditions)
    if witness is not None:
        yield Fact(
            "witness",
            (
                f"a private posterior over {witness['states']:,} states moves the log odds of ω = {witness['raised']} against "
                f"ω = {witness['lowered']} by {about(witness['log_odds_shift'], 6)}; private noise moves them by at most ε = "
                f"{given(level)}"
            ),
        )
        if "exponents" in witness:
            shown = "  ".join(f"{label}:{k}" for label, k in witness["exponents"].items())
            yield Fact("", f"prior × e^(ε·k) with k at each state: {shown}")


def _price(price: Price, by: str, kept: str) -> Iterator[Block]:
    yield Fact("best", f"{at_least(price.value, 8)} (no {kept} mechanism exceeds {at_most(price.bound, 8)})")
    limit = f"none that reads only ω exceeds {at_most(price.oblivious_bound, 8)}"
    yield Fact("noise", f"{at_least(price.oblivious_value, 8)} ({limit})")
    if price.at_least > 0:
        yield Fact("price", f"{at_least(price.at_least)} to {at_most(price.at_most)} for this decision")
        yield Fact("", f"found by {by}")
    else:
        yield Fact("price", f"at most {at_most(price.at_most, 3)}: this decision hardly notices, others may")
