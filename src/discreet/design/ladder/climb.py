"""The ladder to any number of types and respondents: exact mechanisms from below, proved bounds from above, as far as time goes.

| rung | mechanism | lower bound |
|---|---|---|
| 0 | values clipped: S = Σ_i w(θ_i) in its likely window, staircase or geometric noise, best actions | chain, best split |
| 1 | integer weights w(type) by search | – |
| 1 | noise on the statistic that follows how many have its highest values, at face value | – |
| 2 | a program on the likely window of that sum | dice, far types; one respondent set aside; an urn, boxes; quotient, if small |
| 3 | a program on the sum of near types and the count of far ones | grouped quotient |
| both | a program on likely histograms, as which the others are read | the same program without the others |

Mechanism and bound are kept apart: the best of each. The ladder stops when the gap that was asked for is reached or the time is
over.
Floats propose; `certify` values the mechanism and proves the bound again.

Where the law of a sum is dear (a Dirichlet, a random number of respondents) the first mechanism is one read along a line.

Conditions: a sum, a count, or a mean of a fixed number of respondents, and ε > 0; any prior, any decisions. Weights are those
found for squared error, the actions are the decision makers' own. Rung 3 is for respondents alike or drawn from a Dirichlet, the
quotients are for respondents alike and a single squared, absolute or pinball error, as chains are; elsewhere the bound is that of
full information.
Several decision makers are bounded each for himself, and the bounds add up.
"""

from __future__ import annotations

from discreet.design.ladder.bounds.makers import FIRST, EachMaker
from discreet.design.ladder.bounds.rungs import BoxesBound, CoinsBound, CrowdBound, GroupedQuotient, Quotient, SetAside, UrnBound
from discreet.design.ladder.likely import LikelyHistograms
from discreet.design.ladder.mechanisms.rungs import (
    NoiseByCount,
    ProgramOnSumAndCount,
    ProgramOnTheSum,
    WeightsBySearch,
)
from discreet.design.ladder.mechanisms.weights import must_be_affordable
from discreet.design.ladder.rung import Height, Rung
from discreet.design.ladder.served import why_not_read
from discreet.design.memory import OUT_OF_MEMORY, words_of
from discreet.design.proposal import Proposal
from discreet.design.reports import Quiet
from discreet.design.schedule import LadderTime, TimeIsUpError, now
from discreet.design.watchdog import Keep, forget
from discreet.errors import InputError, TooLarge
from discreet.model.problem import Problem
from discreet.model.record import Reached
from discreet.watch import SILENT, Watch

RUNGS: tuple[Rung, ...] = (
    WeightsBySearch(), NoiseByCount(), ProgramOnTheSum(), ProgramOnSumAndCount(), CoinsBound(), CrowdBound(), BoxesBound(),
    SetAside(), UrnBound(), LikelyHistograms(), Quotient(), GroupedQuotient(), EachMaker(),
)  # fmt: skip


ROUNDS = 3
"""The ladder is climbed again with what time is left, as long as that helps; first in haste where likely histograms are listed.
What is left then goes to the rung that holds the bound."""
NO_THREAD = "start new thread"
"""What Python says where there is no room for the stack of one."""


def climb(
    problem: Problem, watch: Watch = SILENT, seconds: float = 60.0, gap: float = 1e-6, keep: Keep[Proposal] = forget
) -> Proposal:
    """The best mechanism and the best bound found within the time; `rungs` lists those that were reached.

    Reports are losses: `value` from above, `bound` from below. Cancelling returns the best so far, and `keep` is handed it on the
    way. A rung that does not fit in memory, or ends in time with nothing, is passed over: what was found below it stays.
    """
    reason = why_not_read(problem)
    if reason is not None:
        raise InputError(
            "The ladder of weighted sums does not serve this problem",
            found=reason,
            allowed="a sum, a count, or the mean of a fixed number of respondents, with ε above 0",
            remedy="use another statistic, or fewer respondents and types",
        )
    height = Height(problem, gap, Quiet(watch))
    allowance = LadderTime(seconds)
    must_be_affordable(height.reader.population, watch)
    rungs: list[Reached] = []
    begun = now()
    for rung in FIRST:
        found = rung.climb(height, allowance.left)
        if found is not None:
            height.take(found)
    height.begun_in = now() - begun
    _note(rungs, watch, height, "clipped sum", begun)
    keep(lambda: _proposal(height, rungs, "cancelled"))
    further = [rung for rung in RUNGS if (height.weights or not rung.needs_weights) and rung.why_not(problem) is None]
    lists = next((place for place, rung in enumerate(further, 1) if isinstance(rung, LikelyHistograms)), 0)
    holder: Rung | None = None
    too_large: set[Rung] = set()
    for number in range(ROUNDS + (lists > 0)):
        before = height.loss, height.lower_bound
        allowance.before_listing = lists > 0 and number == 0
        for rung in further[:lists] if allowance.before_listing else further:
            if height.enough or watch.cancelled() or allowance.left <= rung.least_seconds:
                break
            if rung in too_large:
                continue
            proved = height.lower_bound
            if not _step(rungs, watch, height, rung, allowance.share(rung.name, last=rung is further[-1] and number > 0)):
                too_large.add(rung)
            holder = rung if height.lower_bound > proved else holder
        if height.enough or (number > 0 and before == (height.loss, height.lower_bound)):
            break
    if holder is not None and not height.enough and not watch.cancelled() and allowance.left > holder.least_seconds:
        _step(rungs, watch, height, holder, allowance.share(holder.name, last=True))
    return _proposal(height, rungs, "optimal" if height.enough else "cancelled" if watch.cancelled() else "stalled")


def _proposal(height: Height, rungs: list[Reached], status: str) -> Proposal:
    """The best of what was reached."""
    chosen = height.mechanism
    assert chosen.summary is not None and chosen.kernel is not None
    return Proposal(chosen.summary, chosen.kernel, height.bound.witness, chosen.words, status, tuple(rungs))


def _step(rungs: list[Reached], watch: Watch, height: Height, rung: Rung, seconds: float) -> bool:
    """One rung in its time; what it finds is taken and noted. False where it does not fit in memory."""
    begun = now()
    try:
        found = rung.climb(height, seconds)
    except (MemoryError, TooLarge, TimeIsUpError, ImportError) as error:  # a library may not fit either
        watch.report(stage=rung.name, message=f"passed over: {words_of(error)}")
        return isinstance(error, TimeIsUpError)
    except RuntimeError as error:
        if NO_THREAD not in str(error):
            raise
        watch.report(stage=rung.name, message=f"passed over: {OUT_OF_MEMORY}")
        return False
    if found is not None:
        height.take(found)
        _note(rungs, watch, height, rung.name, begun, found.loss, found.lower_bound)
    return True


def _note(
    rungs: list[Reached],
    watch: Watch,
    height: Height,
    name: str,
    begun: float,
    loss: float | None = None,
    lower: float | None = None,
) -> None:
    took = now() - begun
    proved = height.lower_bound if lower is None else lower
    if all(decision.is_loss for decision in height.problem.decisions):
        proved = max(proved, 0.0)
    rungs.append(Reached(name, height.loss if loss is None else loss, proved, took))
    watch.report(stage=name, value=height.loss, bound=height.lower_bound, seconds=took)
