"""A design, viewed: what it loses beside what people do today, what is proved, how it was found, what it is not for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.design.comparison.evaluation import Evaluation
from discreet.design.memory import OF_MEMORY
from discreet.design.result import Design
from discreet.design.schedule import TimeIsUpError
from discreet.design.watchdog import while_time_lasts
from discreet.errors import TooLarge, stopped
from discreet.model.mechanism import Mechanism
from discreet.model.record import Behaviour
from discreet.numerics.digits import (
    about,
    at_least,
    at_most,
    number_at_least,
    number_at_most,
    percent_at_most,
)
from discreet.views.plain import known
from discreet.views.view import BREAK, Block, Grid, Sentence, View, mind, proved
from discreet.views.words import UNBIASED, adding_words, rival_words, theorem_words
from discreet.watch import SILENT, Watch

NOT_PRIVATE = "full information"


def design_view(found: Design, watch: Watch = SILENT) -> View:
    """The design for a person and for a program; how its actions behave, if that is known before the watch ends."""
    try:
        seen: Behaviour | None = while_time_lasts(lambda: found.behaviour, watch)
    except (TooLarge, MemoryError, TimeIsUpError):
        seen = None
    return View(_facts(found, seen), tuple(_told(found, seen)))


def _facts(found: Design, seen: Behaviour | None) -> dict[str, Any]:
    problem, proof = found.mechanism.problem, found.certificate.privacy
    facts: dict[str, Any] = {
        "value": number_at_least(found.value),
        "bound": number_at_most(found.bound),
        "relative_gap": found.relative_gap,
    }
    if in_losses(found.mechanism):
        facts |= {"loss": number_at_most(found.loss), "lower_bound": number_at_least(found.lower_bound)}
    facts |= {
        **problem.promise.numbers,
        "neighbours": problem.neighbours.name,
        "unit": problem.unit,
        "reduction": found.reduction,
        "theorem": found.theorem,
        "status": found.status,
        **sizes(found.mechanism),
        f"tight_{problem.promise.keys[-1]}": [proof.tight_low, proof.tight_high],
        "baselines": {name: {"value": b.value, "loss": b.loss, "words": b.words} for name, b in found.baselines.items()},
        "seconds": dict(found.seconds),
        "steps": [str(step) for step in found.steps],
        "rungs": [
            {"name": r.name, "loss": r.loss, "lower_bound": r.lower_bound, "relative_gap": r.relative_gap, "seconds": r.seconds}
            for r in found.rungs
        ],
        "notes": list(found.notes),
        "evaluation": None if seen is None else _evaluation(seen),
    }
    if problem.unbiased is not None:
        facts["unbiased"] = problem.unbiased
    if found.within is not None:
        facts |= {"within": found.within, "price": found.price}
    return facts


def in_losses(mechanism: Mechanism) -> bool:
    """Whether every decision maker counts losses, so that people are told losses and not negative payoffs."""
    return all(decision.is_loss for decision in mechanism.problem.decisions)


def sizes(mechanism: Mechanism) -> dict[str, int]:
    """How many states and outputs there are, without listing those of a closed form."""
    return {"states": mechanism.kernel.state_count, "outputs": mechanism.kernel.width}


def _evaluation(seen: Behaviour) -> dict[str, Any]:
    facts = {
        "average_bias": known(seen.average_bias),
        "slope": known(seen.slope),
        "worst_risk": known(seen.worst_risk),
        "total_error_per_1000_cells": known(seen.total_error(1000)),
        "unbiased_estimator_variance": seen.unbiased_variance,
        "for_adding_up": bool(seen.for_adding_up),
    }
    if not isinstance(seen, Evaluation):  # too many states to look at one by one
        return facts
    return facts | {
        "omega": seen.omegas,
        "prior": seen.prior,
        "bias": [known(b) for b in seen.bias.tolist()],
        "risk": [known(r) for r in seen.risk.tolist()],
    }


def _told(found: Design, seen: Behaviour | None) -> Iterator[Block]:
    loss = in_losses(found.mechanism)
    yield comparison(found.mechanism, found.baselines)
    yield BREAK
    rival = rival_words(found.mechanism.problem)
    edge = f"{rival} loses less than" if loss else f"{rival} is worth more than"
    limit = at_least(found.lower_bound, 9) if loss else at_most(found.bound, 9)
    yield proved(f"{edge} {limit}, so this design is within {at_most(found.relative_gap, 2)} of the best possible.")
    yield proved(f"{found.mechanism.guarantee}.")
    asked = found.mechanism.problem.unbiased
    if asked is not None:
        yield proved(UNBIASED[asked])
    step = found.steps[0]
    cited = f" ({theorem_words(step.theorem)})" if step.theorem else ""
    yield Sentence(stopped(f"How: {step.name}; {step.reason}{cited}"))
    yield from _left_out(found)
    yield from _rungs(found)
    if found.within is not None and found.price is not None:
        yield Sentence(f"Restricted to {found.within} mechanisms, which costs about {about(found.price, 6)}.")
    yield from (mind(note) for note in found.notes)
    if asked is None and seen is not None and known(seen.slope) is not None and not seen.for_adding_up:
        yield mind(adding_words(seen.slope))


def _left_out(found: Design) -> Iterator[Block]:
    """Routes that were begun and given up, for want of time or memory, and baselines that would not fit."""
    for step in found.steps[1:]:
        if "given up: " in step.reason:
            yield Sentence(stopped(f"Passed over: {step.name}, {step.reason}"))
    for name, baseline in found.baselines.items():
        if baseline.value is None and OF_MEMORY in baseline.words:
            yield Sentence(stopped(f"Not compared: {name}, {baseline.words}"))


def comparison(mechanism: Mechanism, baselines: Mapping[str, Any]) -> Grid:
    """The design beside what people do today, the best first."""
    loss = in_losses(mechanism)
    claim = mechanism.claims.value
    assert claim is not None
    own = float(-claim if loss else claim)
    rows = [("this design", at_most(-claim) if loss else at_least(claim), "")]
    ranked = sorted(baselines.items(), key=lambda item: (item[1].value is None, -(item[1].value or 0.0)))
    for name, baseline in ranked:
        number = baseline.loss if loss else baseline.value
        shown = f"{name} (not private)" if name == NOT_PRIVATE else name
        times = "" if number is None or own == 0 or not loss else f"{about(number / own, 3)}×"
        rows.append((shown, "–" if number is None else about(number, 6), times))
    return Grid(("way to publish", "expected loss" if loss else "expected payoff", "against the design"), rows, first=True)


def _rungs(found: Design) -> Iterator[Block]:
    """The rungs that were climbed: the best mechanism and the best bound were kept, whichever rung they are from."""
    if found.rungs:
        rows = [
            (r.name, at_most(r.loss), at_least(r.lower_bound), percent_at_most(r.relative_gap, 2), about(r.seconds, 2))
            for r in found.rungs
        ]
        yield BREAK
        yield Grid(("rung", "expected loss", "lower bound", "gap", "seconds"), rows)
        yield BREAK
