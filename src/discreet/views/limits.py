"""What no attacker, no test and no analyst can exceed, viewed: for a promise alone, and for a mechanism that was proved to keep it.

Under ρ no limit holds after every published value: the attacker's holds except with a small chance, and none under every model.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from discreet import certify
from discreet.errors import Refuted, TooLarge
from discreet.interpret.attacker import WorstShift, worst_correlated, worst_product
from discreet.interpret.bounds import PosteriorBounds, density_bounds, moved_bracket, outward
from discreet.interpret.channel import output_at, position_of, state_logs
from discreet.interpret.closed_bounds import total_bounds
from discreet.interpret.distances import state_distances
from discreet.interpret.promised_limits import promised_power, promised_shift
from discreet.interpret.sentences import attacker_sentence, limit_sentence, power_sentence
from discreet.model.certificate import Certificate
from discreet.model.kernel import CountedKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import LETTERS, PurePromise
from discreet.model.universe import Universe
from discreet.numerics.digits import at_least, at_most, given, number_at_most
from discreet.views.view import BREAK, Block, Fact, Heading, Mood, Sentence, View

MOST_STATES = 2000
MOST_ROWS = 12
NO_MODEL = "Under ρ no limit holds after every published value, and so none under every model of how answers move together."
NO_DENSITY = "How probable each output is under any model is bounded by pure ε only."


def limits_view(
    about: Problem | Mechanism, *, output: str | None = None, sure: float = 0.5, together: int = 4, alpha: float = 0.05
) -> View:
    """The limits that follow from a problem's promise; a mechanism, once that is proved, also has limits of its own."""
    mechanism = proved_mechanism(about) if isinstance(about, Mechanism) else None
    problem = about.problem if isinstance(about, Mechanism) else about
    promise = mechanism.guarantee.promise if mechanism is not None else problem.promise
    reach = largest_distance(problem)
    together = max(1, min(together, int(min(reach, 10**9))))
    shifts = {many: promised_shift(promise, many) for many in (1, together)}
    steps = sorted({1.0, float(together), reach})
    relation = problem.neighbours.name
    facts: dict[str, Any] = {
        **promise.numbers,
        "neighbours": relation,
        "unit": problem.unit,
        "attacker": {
            "sure": sure,
            "alone": moved_bracket(sure, shifts[1].size).upper,
            "together": moved_bracket(sure, shifts[together].size).upper,
            "except_for": float(shifts[1].except_for),
            "how_many_together": together,
            "sentences": [
                attacker_sentence(sure, s.size, together=many, neighbours=relation, except_for=s.except_for)
                for many, s in sorted(shifts.items())
            ],
        },
        "tests": [
            {
                "distance": d,
                "alpha": alpha,
                "power_at_most": bound.value,
                "cap": bound.cap,
                "vacuous": bound.vacuous,
                "sentence": power_sentence(bound),
            }
            for d in steps
            for bound in [promised_power(promise, alpha, d)]
        ],
    }
    if isinstance(promise, PurePromise):
        facts["any_model"] = _any_model(PosteriorBounds(promise.epsilon, reach), sure)
    if mechanism is not None:
        facts["mechanism"] = _own_limits(mechanism, output, sure)
    return View(facts, tuple(limits_told(facts)))


def output_limits_view(mechanism: Mechanism, output: str, sure: float = 0.5) -> View:
    """What holds after one published value whatever is believed beforehand: how far it can move anybody, and how probable it is."""
    own = _own_limits(proved_mechanism(mechanism), output, sure)
    return View({"limits": own}, (BREAK, Heading("Limits, whatever is believed beforehand"), *tuple(_told_own(own))[2:]))


def _any_model(bounds: PosteriorBounds, sure: float) -> dict[str, Any]:
    return {
        "d_star_star": bounds.d_star_star,
        "factor": bounds.log_factor,
        "prior": sure,
        "posterior_between": list(bounds.probability(sure)),
        "vacuous_by": bounds.vacuous(sure),
        "sentence": limit_sentence(bounds, sure),
    }


def proved_mechanism(mechanism: Mechanism) -> Mechanism:
    """The mechanism, once its promise is proved: limits that follow from a promise hold only if it is kept."""
    proof = certify.privacy(mechanism)
    if not isinstance(proof, Certificate):
        raise Refuted(f"the mechanism does not keep {mechanism.guarantee}, so no limit follows from it", proof.words)
    return mechanism


def largest_distance(problem: Problem) -> float:
    """The largest distance between databases: infinite when some are unconnected."""
    return float(problem.neighbours.diameter(problem.universe))


def _own_limits(mechanism: Mechanism, output: str | None, sure: float) -> dict[str, Any]:
    """What this very mechanism rules out, where its states are few enough to look at all of them."""
    place = None if output is None else position_of(mechanism, output)
    asked: Fraction | str | None = None if place is None else output_at(mechanism, place).label
    found: dict[str, Any] = {}
    promise = mechanism.guarantee.promise
    pure = promise.epsilon if isinstance(promise, PurePromise) else None
    try:
        states = len(mechanism.space)
        alone = worst_product(mechanism, asked)
        found |= {"states": states, "alone": _shift(alone, sure, inf if pure is None else pure)}
        if isinstance(mechanism.problem.universe, Universe):
            everybody = worst_correlated(mechanism, asked)
            widest = inf if pure is None else PosteriorBounds(pure, largest_distance(mechanism.problem)).shift
            found["everybody"] = _shift(everybody, sure, widest)
        if states > MOST_STATES:
            raise TooLarge("bounds for each output", size=f"{states:,} states", fits=f"{MOST_STATES:,} states")
        found["components"] = int(mechanism.space.component.max()) + 1
    except TooLarge as large:
        found["note"] = str(large)
        found |= {"outputs": []} if pure is None else {}
        if pure is not None and asked is not None and not isinstance(mechanism.kernel, (TableKernel, CountedKernel)):
            found["outputs"] = [_row(str(asked), *outward(*total_bounds(mechanism, asked)))]
        return found
    if pure is None:
        found |= {"outputs": [], "note": NO_DENSITY}
        return found
    bounds = density_bounds(np.exp(state_logs(mechanism)), state_distances(mechanism.space), float(pure))
    places = range(len(bounds.lower)) if place is None else [place]
    found["outputs"] = [_row(output_at(mechanism, i).label, *bounds.stated(i)) for i in places]
    if bounds.remedy is not None:
        found["remedy"] = bounds.remedy
    return found


def _shift(worst: WorstShift, sure: float, proved: Fraction | float) -> dict[str, Any]:
    return {"log_odds": number_at_most(worst.at_most(proved)), "surest": worst.surest(sure, proved)}


def _row(output: str, lower: float, upper: float) -> dict[str, Any]:
    return {"output": output, "at_least": lower, "at_most": upper, "vacuous_by": upper if upper >= 1 else None}


def limits_told(facts: dict[str, Any]) -> Iterator[Block]:
    """The limits in words."""
    numbers = ", ".join(f"{LETTERS[key]} = {given(facts[key])}" for key in LETTERS if key in facts)
    level = f"{numbers}, {facts['neighbours']} neighbours, unit: {facts['unit']}"
    yield Sentence(level, mood=Mood.STRONG)
    sentences = [*facts["attacker"]["sentences"], *(test["sentence"] for test in facts["tests"])]
    sentences += [facts["any_model"]["sentence"]] if "any_model" in facts else [NO_MODEL]
    yield from (Fact("", sentence) for sentence in sentences)
    if "mechanism" in facts:
        yield from _told_own(facts["mechanism"])


def _told_own(own: dict[str, Any]) -> Iterator[Block]:
    yield BREAK
    yield Heading("This mechanism")
    for who in ("alone", "everybody"):
        if who in own:
            yield Fact(who, f"log odds move by at most {at_most(own[who]['log_odds'])}")
    if (own.get("components") or 1) > 1:
        yield Fact("", f"{own['components']} components that neighbours do not connect")
    if "remedy" in own:
        yield Fact("", own["remedy"])
    rows = own.get("outputs", [])
    useful = [row for row in rows if row["vacuous_by"] is None]
    for row in useful[:MOST_ROWS]:
        sides = f"{at_least(row['at_least'], 3)} and {at_most(row['at_most'], 3)}"
        yield Fact(row["output"], f"probability between {sides} under any model")
    if len(useful) < len(rows):
        worst = max(row["vacuous_by"] for row in rows if row["vacuous_by"] is not None)
        silent = f"{len(rows) - len(useful)} of {len(rows)} outputs"
        yield Fact("", f"{silent}: the upper bound exceeds one (up to {at_most(worst, 3)} times) and says nothing")
    if "note" in own:
        yield Fact("", own["note"])
