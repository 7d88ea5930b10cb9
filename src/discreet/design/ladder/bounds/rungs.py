"""The rungs from above: what no private mechanism goes below, by the chain theorem and by averaged inequalities."""

from __future__ import annotations

from collections.abc import Callable

from discreet.certify.bounds.chain import why_not_chain
from discreet.certify.bounds.set_aside import why_not_set_aside
from discreet.certify.bounds.urn import why_not_urn
from discreet.design.ladder.bounds.averaged import Averages
from discreet.design.ladder.bounds.boxes import boxes_bound, why_no_boxes
from discreet.design.ladder.bounds.chain import best_chain
from discreet.design.ladder.bounds.coins import best_coins, promised
from discreet.design.ladder.bounds.counts import coins_bound
from discreet.design.ladder.bounds.crowd import CrowdPlan, best_crowds, by_middle_number, crowd_bound, planned, why_no_crowd
from discreet.design.ladder.bounds.dice import by_middle_tier, dice_bound, dice_within, promising, why_no_coins
from discreet.design.ladder.bounds.far import many_respondents
from discreet.design.ladder.bounds.finals import Contender, decided
from discreet.design.ladder.bounds.groupings import fitting, grouped_program, quotient
from discreet.design.ladder.bounds.set_aside import Bounded, Fitted, Form, fitting_program, forms_of, set_aside_bound
from discreet.design.ladder.bounds.set_aside_forms import ROUGH, better_form, proved_roughly
from discreet.design.ladder.bounds.throws import dice_of
from discreet.design.ladder.bounds.urn import UrnProved, urn_bound
from discreet.design.ladder.bounds.urn_forms import FittedUrn
from discreet.design.ladder.bounds.urn_forms import finest as finest_urn
from discreet.design.ladder.bounds.urn_forms import fitting as fitting_urn
from discreet.design.ladder.bounds.urn_forms import forms_of as urn_forms
from discreet.design.ladder.bounds.urn_solver import SlowStepsError
from discreet.design.ladder.rung import Found, Height, Rung
from discreet.design.schedule import SHORTEST_RUNG, Until, now
from discreet.model.certificate import BoxesWitness, CoinsWitness, CrowdWitness, SetAsideWitness, UrnWitness, Witness
from discreet.model.iid_sum import iid_sum
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.problem import Problem

SET_ASIDE_GAP = 2e-3
"""How near a program is solved, as a share of the loss."""
MUCH_FINER = 2
"""A program with so many times fewer states and nodes than that of the best bound is not begun."""
ALONE, BESIDE = 0.15, 0.85
"""Shares of the time left that a program with one sum may take, and the first with two."""
FIRST_FORM = 0.3
"""Share of the time that an urn bound may take with the count alone."""
SLOWER = 1.25
"""A program that was too slow is followed by one which at least so much slower steps would fit."""
SEARCHING = 0.6
"""Share of what is left that goes to a search for better weights of one sum."""
FEW_DICE = 0.08
"""Share of their time that dice have at first among few respondents: sums over the others may prove more, and are tried then."""
ROUGHLY, NEAR = 0.08, 0.97
"""Share of the time in which sums are tried where there are dice, and what they have to come to of what is held."""
ROUGH_SUMS, PLENTY = 0.93, 0.95
"""What a rough program of two sums proves of what it will prove; and how much of the loss has to come to, with few respondents, for
nothing else to be tried."""
FINER_CROWD = 1.3
"""Programs for a crowd are not begun again unless they have so many times as many states and nodes."""
ALONE_SECONDS = 4.0
"""One sum may take so long in any case: at small ε it is nearly the whole truth."""


class ChainBound(Rung):
    """The chain at its best sets of types; what full information is worth where no chain applies."""

    name = "chain bound"
    theorem = "chain bound"

    def climb(self, height: Height, seconds: float) -> Found | None:
        lower, witness = best_chain(height.problem, height.reader.kept, height.watch)
        return Found(lower_bound=lower, witness=witness)


class Quotient(Rung):
    """Any private mechanism seen through (number of respondents without the reference type, ω) (`certify.bounds.quotient`)."""

    name = "quotient bound"
    theorem = "quotient bound"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        return why_not_chain(problem)

    def climb(self, height: Height, seconds: float) -> Found | None:
        program = self.program(height, seconds)
        if program is None:
            return None
        found = quotient(height.reader, program, height.loss, height.gap, seconds, height.watch)
        return Found(lower_bound=found.lower_bound, witness=found.witness)

    def program(self, height: Height, seconds: float) -> Averages | None:
        """The averaged program that fits the time."""
        return fitting(height.reader, None, seconds)


class GroupedQuotient(Quotient):
    """The same with two groups of types counted apart."""

    name = "grouped quotient bound"

    def why_not(self, problem: Problem) -> str | None:
        reason = super().why_not(problem)
        return "there are not four types to group" if reason is None and len(iid_sum(problem).types) < 4 else reason

    def program(self, height: Height, seconds: float) -> Averages | None:
        return grouped_program(height.reader, height.weights, seconds)


class CoinsBound(Rung):
    """Many respondents of a low and one or two high types unknown, and one of each type between (`certify.bounds.coins`)."""

    name = "coin bound"
    theorem = "coin bound"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        reason = why_not_chain(problem)
        return why_no_coins(problem) if reason is None else reason

    def climb(self, height: Height, seconds: float) -> Found | None:
        held, best, ends = height.bound.witness, None, now() + seconds
        many = many_respondents(height.problem)
        if not many and isinstance(held, (SetAsideWitness, CrowdWitness)):
            return None
        if not many and _promise_of_sums(height, seconds) >= PLENTY * height.loss:
            crowds, ends = [], ends if height.thrown else now() + FEW_DICE * seconds
        else:
            crowds = _planned_crowds(height, ends - now())
        height.thrown = True
        coins = best_coins(height.problem, ends - now())
        known = isinstance(held, CoinsWitness) and coins and held.coins[0].number >= coins[0].number
        if coins and not known and promised(height.problem, coins) >= height.lower_bound:
            best = coins_bound(height.problem, coins, ends - now(), height.watch)
        left = ends - now()
        every, most = promising(height.problem, dice_within(height.problem, left, held), left, height.watch)
        problem, loss = height.problem, height.loss
        plans = [
            Contender(plan, plan.promise, len(plan.numbers), by_middle_number, (problem, plan, loss))
            for plan in crowds
            if plan.promise > height.lower_bound
        ]
        thrown = every[:1] if crowds and most > 0 else []
        plans += [Contender(dice, most, len(dice.tiers), by_middle_tier, (problem, dice)) for dice in thrown]
        chosen = decided(plans, ends - now(), height.watch)
        height.by_crowd = chosen.choice if isinstance(chosen, CrowdPlan) else None
        for dice in every:
            if height.by_crowd is None and not height.watch.cancelled() and now() < ends:
                found = dice_bound(height.problem, dice, ends - now(), height.watch)
                best = max((each for each in (best, found) if each), key=lambda each: each[0])
        return None if best is None else Found(lower_bound=best[0], witness=best[1])


class CrowdBound(Rung):
    """The likeliest type and the far ones unknown, through their count and sum, and dice beside these (`certify.bounds.crowd`)."""

    name = "crowd bound"
    theorem = "crowd bound"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        return why_no_crowd(problem)

    def climb(self, height: Height, seconds: float) -> Found | None:
        ends, chosen = now() + seconds, height.by_crowd
        if chosen is None or height.tried_crowds is None:
            return None
        for first in (True, False):  # what was chosen, and what else was tried where that is as fine as it may be
            tried = [one for one in height.tried_crowds if (one.choice == chosen) is first]
            plan = planned(height.problem, tried, height.loss, ends - now())
            if plan is None or plan.promise <= height.lower_bound:
                continue
            if plan.size > FINER_CROWD * height.solved_crowds.get(plan.choice, 0):
                height.solved_crowds[plan.choice] = plan.size
                found = crowd_bound(height.problem, plan, height.loss, ends - now(), height.watch)
                return None if found is None else Found(lower_bound=found[0], witness=found[1])
        return None


def _planned_crowds(height: Height, seconds: float) -> list[CrowdPlan]:
    """The crowds that promise most in the time, by themselves and with dice beside them."""
    if why_no_crowd(height.problem) is not None:
        return []
    ends = now() + seconds
    if height.tried_crowds is None:
        height.tried_crowds = best_crowds(height.problem, height.loss, seconds, height.watch)
    apart = ([one for one in height.tried_crowds if bool(one.choice.small) is beside] for beside in (False, True))
    found = [planned(height.problem, tried, height.loss, ends - now()) for tried in apart]
    return [plan for plan in found if plan is not None]


def _promise_of_sums(height: Height, seconds: float) -> float:
    """What two sums over the others prove in the time, about; nothing where they do not even fit roughly."""
    if not _two_sums_fit(height, seconds):
        return 0.0
    both = [each for each in forms_of(height.reader, height.weights) if len(each[0]) > 1]
    return max(_proved_roughly(height, each, ROUGHLY * seconds) or 0.0 for each in both) / ROUGH_SUMS


def _proved_roughly(height: Height, form: list[Form], seconds: float) -> float | None:
    """What sums prove in a rough program, once and for all; None where that has no time."""
    known = tuple(form)
    if known not in height.rough_sums:
        if fitting_program(height.reader, form, height.loss, seconds, ROUGH) is None:
            return None
        height.rough_sums[known] = proved_roughly((height.problem, form, height.loss), Until.after(seconds, height.watch))
    return height.rough_sums[known]


class BoxesBound(Rung):
    """Counts of the likeliest and the farthest types unknown, all else told (`certify.bounds.boxes`)."""

    name = "boxes bound"
    theorem = "boxes bound"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        return why_no_boxes(problem)

    def climb(self, height: Height, seconds: float) -> Found | None:
        held = height.bound.witness
        if seconds <= height.boxes_in_vain:
            return None
        known = held if isinstance(held, BoxesWitness) else None
        found = boxes_bound(height.problem, seconds, height.lower_bound, height.watch, known)
        if found is None:
            height.boxes_in_vain = seconds
            return None
        return Found(lower_bound=found[0], witness=found[1])


class SetAside(Rung):
    """What may be said of one respondent, given one or two sums over the others (`certify.bounds.set_aside`)."""

    name = "set-aside bound"
    theorem = "set-aside bound"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        return why_not_set_aside(problem)

    def climb(self, height: Height, seconds: float) -> Found | None:
        ends, best = now() + seconds, None
        forms = forms_of(height.reader, height.weights)
        if _two_sums_fit(height, seconds):
            # two sums say all that one of them says, so that one alone is for when there is not the time
            forms = [each for each in forms if len(each[0]) > 1]
        if dice_of(height.problem):
            forms = [each for each in forms if self._comes_near(height, each, ROUGHLY * seconds)]
        for k, each in enumerate(forms):
            left = ends - now()
            share = max(ALONE * left, min(ALONE_SECONDS, left)) if len(each[0]) == 1 else BESIDE * left
            given = left if k == len(forms) - 1 else share
            fitted = fitting_program(height.reader, each, height.loss, given)
            if fitted is None or height.watch.cancelled() or _known(height, fitted):
                continue
            enough = (1 - height.gap) * height.loss
            found = set_aside_bound(height.reader, fitted, height.loss, SET_ASIDE_GAP, given, height.watch, enough)
            if best is None or found.lower_bound > best.lower_bound:
                best = found
            if best.lower_bound >= enough:
                break
        searched = self._by_better_weights(height, best, ends - now())
        if searched is not None and (best is None or searched.lower_bound > best.lower_bound):
            best = searched
        return None if best is None else Found(lower_bound=best.lower_bound, witness=best.witness)

    def _comes_near(self, height: Height, form: list[Form], seconds: float) -> bool:
        """Whether a rough program of these sums proves nearly what is held, or more, or has no time to say.

        Two sums that have no time prove less than dice or a crowd where respondents are many.
        """
        if height.watch.cancelled():
            return False
        found = _proved_roughly(height, form, seconds)
        if found is None:
            return not (
                len(form[0]) > 1
                and isinstance(height.bound.witness, (CoinsWitness, CrowdWitness))
                and many_respondents(height.problem)
            )
        return found >= NEAR * height.lower_bound

    def _by_better_weights(self, height: Height, best: Bounded | None, seconds: float) -> Bounded | None:
        """Where one sum proves most of all bounds so far, and not enough: what it proves by weights that are searched for."""
        held = height.bound if best is None or best.lower_bound <= height.lower_bound else best
        witness = held.witness
        enough = held.lower_bound is None or held.lower_bound >= (1 - height.gap) * height.loss
        if not isinstance(witness, SetAsideWitness) or len(witness.weights[0]) > 1 or enough or height.watch.cancelled():
            return None
        ends, start = now() + seconds, tuple(witness.weights[t][0] for t in height.reader.law.types)
        if start in height.searched:
            return None
        height.searched.add(start)
        form = better_form(height.reader, start, height.loss, SEARCHING * seconds, height.watch)
        fitted = fitting_program(height.reader, [(w,) for w in form], height.loss, ends - now())
        if form == start or fitted is None:
            return None
        return set_aside_bound(height.reader, fitted, height.loss, SET_ASIDE_GAP, ends - now(), height.watch)


class UrnBound(Rung):
    """Mean counts of types, given the count of the likeliest one and perhaps a sum (`certify.bounds.urn`)."""

    name = "urn bound"
    theorem = "urn bound"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        reason = why_not_urn(problem)
        if reason is None and not isinstance(problem.prior, DirichletMultinomialPrior):
            return "one respondent set aside says more of independent respondents"
        return reason

    def climb(self, height: Height, seconds: float) -> Found | None:
        ends, problem, loss = now() + seconds, height.problem, height.loss
        best = None
        if not isinstance(height.bound.witness, UrnWitness):
            alone = urn_forms(problem)[0]
            best = _urn(height, problem, FIRST_FORM * seconds, lambda given: fitting_urn(problem, alone, loss, given))
        found = _urn(height, problem, ends - now(), lambda given: finest_urn(problem, loss, given))
        best = max((each for each in (best, found) if each), key=lambda each: each.lower_bound, default=None)
        return None if best is None else Found(lower_bound=best.lower_bound, witness=best.witness)


def _two_sums_fit(height: Height, seconds: float) -> bool:
    """Whether two sums over the others are a program that the time allows."""
    both = [each for each in forms_of(height.reader, height.weights) if len(each[0]) > 1]
    fitted = fitting_program(height.reader, both[0], height.loss, BESIDE * seconds) if both else None
    return fitted is not None and fitted.whole


def _urn(height: Height, problem: Problem, seconds: float, fitted_in: Callable[[float], FittedUrn | None]) -> UrnProved | None:
    """What the program proves that fits the time; where its steps are slower than was thought, one that fits at their pace."""
    ends = now() + seconds
    while not height.watch.cancelled():
        given = ends - now()
        fitted = fitted_in(given / height.urn_pace)
        if fitted is None or _known_urn(height.bound.witness, fitted):
            return None
        try:
            return urn_bound(problem, fitted.program, height.loss, given, height.watch, fitted.apart)
        except SlowStepsError as slow:
            height.urn_pace = max(slow.pace, SLOWER * height.urn_pace)
    return None


def _known_urn(held: Witness | None, fitted: FittedUrn) -> bool:
    """Whether a bound is of this program, or of one with more states and nodes."""
    if not isinstance(held, UrnWitness) or held.weights != fitted.program.weights:
        return False
    states, nodes = len(fitted.program.states), fitted.nodes
    return len(held.states) * len(held.multipliers) >= states * nodes


def _known(height: Height, fitted: Fitted) -> bool:
    """Whether the best bound so far is of this program, or of more sums, or of a much finer program with other weights."""
    held, program = height.bound.witness, fitted.program
    if not isinstance(held, SetAsideWitness):
        return False
    if len(held.weights[0]) > len(program.weights[0]):
        return True
    if tuple(held.weights[t] for t in height.reader.law.types) == program.weights:
        return len(held.states) >= len(program.states) and len(held.multipliers) >= len(fitted.knots)
    return len(held.states) * len(held.multipliers) > MUCH_FINER * len(program.states) * len(fitted.knots)
