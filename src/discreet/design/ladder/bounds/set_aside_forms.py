"""Which weights one sum over the others has, where that sum is all there is time for: found by trying.

The weights of the best weighted sum in few steps are where it begins. What is proved hangs on every step of them, and not as the
loss of a mechanism does: with values 0..10, 200 respondents and ε = 1/4 the weights 0, 1, 3, 5, 6, 6, … prove 373 where 0, 1, 3, 6,
6, … prove 361 and the best mechanism reads 0, 6, 26, 46, 47, 47, …. So neighbours are tried roughly, which ranks them as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.set_aside import STEPS, Form, fitting_program, set_aside_bound
from discreet.design.ladder.bounds.set_aside_solver import taking
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.schedule import Until, now, time_left
from discreet.model.problem import Problem
from discreet.watch import Watch

ROUGH = ((1e-2, 0.4),)
"""What a trial leaves out of the states, and how many roots of the loss its nodes are apart."""
ROUGH_GAP = 3e-2
FEWEST_TRIALS = 4
"""A search that has no time for so many is not begun."""


def better_form(reader: Reader, start: Form, loss: float, seconds: float, watch: Watch) -> Form:
    """Weights of one sum that prove more than those it starts from, as far as trials within the time say; or the same."""
    each = trial_seconds(reader, start, loss)
    if FEWEST_TRIALS * each > seconds:
        return start
    until, hands = Until.after(seconds, watch), hands_for(seconds)
    tried: dict[Form, float] = {}

    def trials(forms: Sequence[Form]) -> None:
        parts: list[tuple[Problem, list[Form], float]] = [(reader.problem, [(w,) for w in form], loss) for form in forms]
        given = min(2 * each, until.left)
        found = shared_out(proved_roughly, parts, until, given, "trial", hands=hands)
        tried.update((form, proved or 0.0) for form, proved in zip(forms, found, strict=True))

    trials([start])
    best, improved = start, True
    while improved and not until.cancelled():
        near = [form for form in neighbours(best, reader.values) if form not in tried]
        improved = False
        while near and not improved and until.left > each and not watch.cancelled():
            some, near = near[:hands], near[hands:]
            trials(some)
            top = max(some, key=lambda form: tried[form])
            improved = tried[top] > tried[best]
            best = top if improved else best
    return best


def trial_seconds(reader: Reader, form: Form, loss: float) -> float:
    """A guess of what one trial takes; endless where there is no program."""
    fitted = fitting_program(reader, [(w,) for w in form], loss, float("inf"), ROUGH)
    if fitted is None:
        return float("inf")
    return STEPS * taking(fitted.program, fitted.knots, loss / float(reader.problem.decision.weight))[0]


def proved_roughly(part: tuple[Problem, list[Form], float], watch: Watch) -> float:
    """What sums of these weights prove, about; nothing where that would take longer than the watch."""
    problem, forms, loss = part
    reader, began = Reader(problem), now()
    fitted = fitting_program(reader, forms, loss, time_left(watch), ROUGH)
    if fitted is None:
        return 0.0
    seconds = time_left(watch) - (now() - began)
    return set_aside_bound(reader, fitted, loss, ROUGH_GAP, seconds, watch).lower_bound


def neighbours(form: Form, values: Sequence[float]) -> list[Form]:
    """One step more or less between two types that follow each other, and one above the first of those that have the most."""
    order = sorted(range(len(form)), key=lambda t: (form[t], values[t]))
    levels = [form[t] for t in order]
    found = []
    for i in range(1, min(levels.index(levels[-1]) + 2, len(levels))):
        for more in (1, -1):
            if levels[i] + more >= levels[i - 1]:
                moved = [level + more * (place >= i) for place, level in enumerate(levels)]
                found.append(tuple(moved[order.index(t)] for t in range(len(form))))
    return [each for each in dict.fromkeys(found) if max(each) > min(each)]
