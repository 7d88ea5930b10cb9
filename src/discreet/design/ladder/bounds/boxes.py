"""Proposing boxes: which types stay unknown, which of their counts, for how many players at once (`certify.bounds.boxes`).

Which types are best is found by trying: each choice (`telling`) is solved for one reference. Programs of the best one are solved
one after the other, each with as many states as there is time for by what the one before took.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np

from discreet.certify.bounds.boxes import MOST_IN_ALL, boxes_stage, told_worth, unknown_in_box
from discreet.certify.bounds.urn import urn_of, why_not_drawn
from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.counts import solve_counts
from discreet.design.ladder.bounds.telling import FEWEST_STATES, MOST_KEPT, Box, Telling, choices
from discreet.design.program.thin_witness import in_passing
from discreet.design.schedule import now, time_left
from discreet.frozen import dataclass
from discreet.model.certificate import BoxesWitness, BoxPart
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch

FEWEST_RESPONDENTS, MOST_RESPONDENTS = 8, 3_000
WIDE = 20
"""Respondents times ε from which boxes are tried: below the urn bound is nearly the whole truth."""
PROGRAMS, ROUGHLY = (1, 2, 3, 4, 6, 8, 12, 16), (2, 4, 8)
"""How many there may be, and those that are looked at before it is known which types are best."""
TRIED = 0.25
"""Share of the time for finding out which types."""
FEWEST_TRIED, LEAST_TRIED, WORTH_TRYING = 4, 80, 0.6
"""Choices that are tried however short the time, states of a trial beyond these, and the share of the most kept that each keeps."""
GAP, TRIAL_GAP = 4e-3, 3e-2
FURTHER = 1.15
"""How much more all states prove than a trial promises."""
LONGER = 1.5
"""A box may take so many times its share of the time, where the others leave it."""
CUT_OFF = 1.5
"""What is cut off would have taken so many times longer, at least."""
ALIKE, MORE = 1.1, (2.0, 1.5, 1.2)
"""A box stays as it was planned where that is so nearly what it may have; and how many times its states that may be."""
PATIENCE = 3.0
"""The same for a trial."""

Bounded = tuple[float, BoxesWitness]
Solved = tuple[float, BoxPart]
"""What the law of a box loses at least, and its part of the witness."""


def why_no_boxes(problem: Problem) -> str | None:
    """Why boxes bound nothing here, in words."""
    reason = why_not_drawn(problem)
    if reason is not None or not isinstance(problem.prior, DirichletMultinomialPrior):
        return reason or "chains and dice say more of independent respondents"
    law = urn_of(problem)
    if not FEWEST_RESPONDENTS <= law.respondents <= MOST_RESPONDENTS or law.respondents * problem.epsilon < WIDE:
        return "the respondents are too few, or too many, for boxes of counts"
    return None if choices(law) else "fewer than three types have respondents and values of their own"


Plan = tuple[Telling, float, list[Box]]
"""What is told, the probability that boxes keep, and these."""


def boxes_bound(
    problem: Problem, seconds: float, held: float, watch: Watch = SILENT, known: BoxesWitness | None = None
) -> Bounded | None:
    """What boxes prove within the time; None where a trial promises no more than is held.

    Those of the same types as known ones are tried only with more states.
    """
    law, ends, hands = urn_of(problem), now() + seconds, hands_for(seconds)
    tellings = [Telling(law, *each) for each in choices(law)]
    plans = [(telling, *telling.boxes((1 - TRIED) * seconds, problem, hands, ROUGHLY)) for telling in tellings]
    plans = [plan for plan in plans if sum(len(box.kept) for box in plan[2]) > _known_of(plan[0], known)]
    trying = TRIED * seconds
    few = hands_for(trying)
    plans, each = _worth_trying(plans, problem, trying, few)
    trials = [_trial(problem, telling, boxes, each) for telling, _, boxes in plans]
    tried = shared_out(_tried, trials, watch, trying, "trial", hands=few, longer=PATIENCE)
    promises = [
        0.0 if found is None else _alone(trial, found) * kept / trial.box.borne
        for trial, (_, kept, _), found in zip(trials, plans, tried, strict=True)
    ]
    if watch.cancelled() or FURTHER * max(promises, default=0.0) <= held:
        return None
    telling = plans[int(np.argmax(promises))][0]
    _, boxes = telling.boxes(ends - now(), problem, hands, PROGRAMS)
    if not boxes:
        return None
    _seen.clear()
    each_most = zip(boxes, telling.parts(boxes), _most_told(telling, boxes), strict=True)
    programs = [BoxProgram(problem, telling, box, part, GAP, most) for box, part, most in each_most]
    solved = shared_out(_in_time, programs, watch, ends - now(), "box", hands=hands, longer=LONGER)
    found = [one for one in solved if one is not None and one[0] > 0]
    parts = tuple(part for _, part in found)
    proved = told_worth(law, telling.faces, telling.pairs, parts, [Fraction(loss) for loss, _ in found])
    return (float(proved), BoxesWitness(telling.faces, telling.pairs, parts)) if parts else None


@dataclass(frozen=True)
class BoxProgram:
    """A box, its part of the witness without multipliers, how nearly it is solved, and the most states that it may have."""

    problem: Problem
    telling: Telling
    box: Box
    part: BoxPart
    gap: float
    most: int = 0


def _solved(program: BoxProgram, until: Watch) -> Solved:
    """What the law of a box loses at least, and its part of the witness."""
    telling, box, empty = program.telling, program.box, program.part
    law, faces, pairs = telling.law, telling.faces, telling.pairs
    unknown, stage = unknown_in_box(law, faces, pairs, empty), boxes_stage(law, faces, pairs, empty, box.kept)
    lower, scale, multipliers = solve_counts(program.problem, unknown, stage, program.gap, until, numbers=box.kept)
    return lower, replace(empty, scale=scale, multipliers=multipliers)


_seen: dict[Telling, float] = {}
"""How many times longer than guessed the program of these types took that was last solved by this process, for the same bound."""


def _in_time(program: BoxProgram, until: Watch) -> Solved:
    """The same with as many states as the time has by what the one before took: what is cut off proves next to nothing."""
    telling, box, began = program.telling, program.box, now()
    left, seen = time_left(until), _seen.get(telling)
    most = telling.states_within(left / (seen or 1.0), program.problem)
    least = telling.states_within(left / LONGER / seen, program.problem) if seen else 0
    states = max(min(len(box.kept), most), min(least, program.most), FEWEST_STATES)
    if not 1 / ALIKE < states / len(box.kept) < ALIKE:
        box = telling.box(box.reference, states)
        program = replace(program, box=box, part=box.part(program.part.players))
    found, guess = _solved(program, until), telling.seconds(len(box.kept), program.problem)
    longer = (now() - began) / guess * (CUT_OFF if until.cancelled() else 1.0)
    if longer > 0:
        _seen[telling] = longer
    return found


def _most_told(telling: Telling, boxes: Sequence[Box]) -> list[int]:
    """How many states each may have so that the checker takes them all: of every box in proportion."""
    for more in MORE:
        each = [min(round(more * len(box.kept)), MOST_KEPT, MOST_IN_ALL // len(boxes)) for box in boxes]
        if telling.is_told_soon([telling.box(box.reference, most) for box, most in zip(boxes, each, strict=True)]):
            return each
    return [len(box.kept) for box in boxes]


def _worth_trying(plans: Sequence[Plan], problem: Problem, seconds: float, hands: int) -> tuple[list[Plan], float]:
    """Plans that keep most, as many as can be tried with some states, and the seconds of each."""
    most = max((kept for _, kept, _ in plans), default=0.0)
    found = sorted((plan for plan in plans if plan[1] >= WORTH_TRYING * most), key=lambda plan: -plan[1])
    while True:
        each = seconds / max(ceil(len(found) / hands), 1)
        if len(found) <= FEWEST_TRIED or min(plan[0].states_within(each, problem) for plan in found) >= LEAST_TRIED:
            return found, each
        found.pop()


def _trial(problem: Problem, telling: Telling, boxes: Sequence[Box], seconds: float) -> BoxProgram:
    """The middle one of some boxes with as many states as so many seconds allow."""
    middle = boxes[len(boxes) // 2]
    box = telling.box(middle.reference, min(len(middle.kept), telling.states_within(seconds, problem)))
    return BoxProgram(problem, telling, box, box.part((box.reference,) * 2), TRIAL_GAP)


def _tried(trial: BoxProgram, until: Watch) -> Solved:
    with in_passing():
        return _solved(trial, until)


def _alone(trial: BoxProgram, found: Solved) -> float:
    """What a trial proves where there are as many players as it is for."""
    telling, (loss, part) = trial.telling, found
    proved = told_worth(telling.law, telling.faces, telling.pairs, [part], [Fraction(loss)])
    return float(proved) / float(telling.chances[trial.box.reference])


def _known_of(telling: Telling, known: BoxesWitness | None) -> int:
    alike = known is not None and (known.faces, known.pairs) == (telling.faces, telling.pairs)
    return kept_states(known) if known is not None and alike else 0


def kept_states(witness: BoxesWitness) -> int:
    """States between which multipliers stand, in all boxes."""
    return sum(len({h for node in part.multipliers for flow in node.flows for h in flow[:2]}) for part in witness.parts)
