"""`design(problem)`: the best private mechanism with its proof.

Routes are considered in order (`routes.order`): a closed form, on the problem or on a smaller one with the same optimum; a program
over counts, histograms or databases; the ladder of weighted sums. What a route proposes is rounded to exact numbers and proved by
`certify`; the best proved mechanism and the best proved bound are kept, whichever route found them. What people do today
competes too: a design is never worse than its baselines, publishing nothing included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module

from discreet.certify.bounds import FULL
from discreet.design.askable import must_be_askable
from discreet.design.certified import Bound, Candidate, Proofs
from discreet.design.memory import SPARE, held, words_of
from discreet.design.program.listed import usual_seconds
from discreet.design.program.sections import Ground, ground
from discreet.design.proposal import Proposal
from discreet.design.reports import AsPayoffs
from discreet.design.restricted import OBLIVIOUS, ObliviousProofs, reads_only_the_statistic
from discreet.design.result import Design
from discreet.design.routes.order import LADDER, considered
from discreet.design.routes.program import StateProgram, too_many
from discreet.design.routes.route import Asked, Route
from discreet.design.schedule import (
    AFTER_COMPARING,
    BASELINE_SECONDS,
    COMPARE_SECONDS,
    DEFAULT_SECONDS,
    FLOOR_SECONDS,
    FLOOR_SHARE,
    FOR_THE_PRICE,
    GRACE,
    LAST_PARTS,
    PROOF_SHARE,
    QUICK_SECONDS,
    SEARCH_SHARE,
    SECOND_CHANCE,
    SECONDS_PER_PROVED_ENTRY,
    TimeIsUpError,
    TooDearError,
    Until,
    now,
    search_seconds,
    until_all_is_shown,
    working_with,
)
from discreet.design.units import Units
from discreet.design.watchdog import Keep, in_time, in_time_or_so_far
from discreet.errors import DiscreetError, InputError, TooLarge
from discreet.model.certificate import Certificate, TheoremWitness
from discreet.model.gap import size
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.record import Baseline, Reached, Step
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch

DUST = 1e-9
"""Relative differences of loss below this are rounding; within the gap asked for, few bits may cost a tenth of it."""
LOOSE = 1e-3
"""From this gap on a weighted sum is tried before a program that takes long, and after one that did not come so near."""
MOST_QUICK = 5_000
"""States up to which it is asked how long their program takes."""


def design(
    problem: Problem,
    watch: Watch = SILENT,
    *,
    gap: float = 1e-6,
    seconds: float = DEFAULT_SECONDS,
    within: str | None = None,
    compare: bool = True,
    keep: Callable[[Mechanism, Certificate], object] | None = None,
    workers: int | None = None,
) -> Design:
    """The best private mechanism for a problem, proved private and within `relative_gap` of best.

    `seconds` bounds the search, `within` restricts it to a class of mechanisms and shows the price, `compare` adds baselines.
    `keep` is handed the certified mechanism when the search ends, before anything is compared with it. Cancelling returns the
    best certified mechanism so far. Parts of a long search are done by as many `workers` as there are cores.
    """
    if not isinstance(problem, Problem):
        raise InputError(
            "A problem is needed",
            found=type(problem).__name__,
            allowed="a model.Problem",
            remedy='let discreet.problem read it: discreet.problem("places.toml").design()',
        )
    must_be_askable(problem, gap, within)
    search = _Search(problem, gap, seconds, watch, oblivious=within == OBLIVIOUS)
    with working_with(workers):
        search.along_the_routes()
        if search.oblivious:
            search.along_the_statistic()
        if keep is not None and within is None:
            keep(*search.proofs.settled())
        found = search.found(search.beside_baselines(compare))
    return found if within is None else replace(found, within=within, price=search.price(found))


class _Search:
    """The routes of one problem, what was proved on the way, and the time that it took."""

    def __init__(self, problem: Problem, gap: float, seconds: float, watch: Watch, oblivious: bool = False) -> None:
        self.problem, self.gap, self.seconds, self.oblivious = problem, gap, seconds, oblivious
        self.heard = AsPayoffs.of(problem, watch)
        self.begun, self.searching = now(), search_seconds(seconds) * (FOR_THE_PRICE if oblivious else 1)
        self.whole = until_all_is_shown(seconds, watch)
        self.proofs = Proofs(problem)
        self.asked = ObliviousProofs(problem) if oblivious else self.proofs
        """Those of what was asked for; the others are for its price."""
        self.units = Units.of(problem)
        self.routes, self.passed = considered(self.units.inner)
        self.took = {"solve": 0.0, "certify": 0.0, "baselines": 0.0}
        self.rungs: tuple[Reached, ...] = ()
        self.status = "optimal"
        self.too_soon: list[Route] = []
        self._ground: Ground | None = None
        self._chain: Bound | None = None

    def until(self, seconds: float) -> Until:
        """A watch that ends so many seconds after the beginning."""
        return Until(self.begun + seconds, self.heard)

    def along_the_routes(self) -> None:
        """Take one route after the other until the gap is reached."""
        routes = list(self.routes)
        if self._begins_with_sums():
            self.take(LADDER, QUICK_SECONDS)
            if self.proofs.reached(self.gap):
                words = "a weighted sum reaches the gap that was asked for"
                self.passed += [route.passed_by(words) for route in routes if route is not LADDER]
                return
        for route in routes:
            if self.proofs.reached(self.gap if route is not LADDER else max(self.gap, LOOSE)):
                break
            left, floor = self.searching - self._elapsed(), min(FLOOR_SECONDS, FLOOR_SHARE * self.seconds)
            if route is LADDER and left < floor:
                self.take(route, floor, self.until(self._elapsed() + floor))
            else:
                self.take(route, left if self.proofs.best is None else min(left, FLOOR_SECONDS))
        self._again()
        if self.proofs.best is None:
            self._as_a_last_resort()
        elif self.proofs.limit is None:  # the routes that bound were given up
            self._keep(None, self._plain_bound())

    def along_the_statistic(self) -> None:
        """The best mechanism that reads only the statistic, in what is left of the search; publishing nothing reads no more."""
        from discreet.design.routes.blind import Blind
        from discreet.design.routes.oblivious import Oblivious

        self.searching, self.status = search_seconds(self.seconds), "optimal"
        self.take(Oblivious(), self.searching - self._elapsed())
        if self.asked.best is None:
            self.take(Blind(), self._grace)

    def price(self, found: Design) -> float:
        """What the best of all is worth more."""
        assert self.proofs.best is not None
        return max(float(self.proofs.best.value - found.value), 0.0) if self.oblivious else 0.0

    def _keep(self, candidate: Candidate | None, limit: Bound | None) -> bool:
        """Keep what is better than before; whether it is now the best of what was asked for."""
        better = self.proofs.keep(candidate, limit)
        return self.asked.keep(candidate, limit) if self.oblivious else better

    def _begins_with_sums(self) -> bool:
        """Whether weighted sums come before any program: for a loose gap, where the program takes longer than trying them."""
        if self.gap < LOOSE or LADDER not in self.routes or self.routes[0] is LADDER:
            return False
        inner, universe = self.units.inner, self.units.inner.universe
        listed = isinstance(self.routes[0], StateProgram) and inner.exchangeable and not inner.real_actions
        if listed and isinstance(universe, Universe) and universe.histogram_count <= MOST_QUICK:
            return usual_seconds(inner, self.gap) > QUICK_SECONDS
        return True

    def _again(self) -> None:
        """Routes that were not begun for want of time, when the others took little of it: all that is left, and a little more."""
        while self.too_soon and not self.proofs.reached(self.gap) and self._elapsed() < self.searching:
            route = self.too_soon.pop(0)
            self.passed = [step for step in self.passed if step.name != route.name]
            self.take(route, self.seconds, Until(self.begun + self.seconds + SECOND_CHANCE, self.heard))

    def _as_a_last_resort(self) -> None:
        """On a machine so slow that no route came back in time: publish nothing, until something better is compared with it."""
        if self.problem.unbiased is not None:  # who tells nothing is biased: the plainest that is not is noise
            from discreet.design.program.unbiased_noise import unbiased_noise

            noise = unbiased_noise(self.problem, "geometric")
            self._keep(*self.proofs.proved(noise, Step("unbiased noise", True, "", "no route came back in time")))
        else:
            from discreet.design.routes.blind import Blind, blind_proposal

            blind = blind_proposal(self.problem)
            self._keep(*self.proofs.proved(blind, Blind().taken(self.problem, blind)))
        self._keep(None, self._plain_bound())
        if self.problem.unbiased is None and not all(d.is_loss for d in self.problem.decisions):
            self._believe_plain_noise()

    def _believe_plain_noise(self) -> None:
        """Where nobody takes a number at face value, noise is believed and acted on: little work, and often worth it."""
        from discreet.design.comparison.plain_noise import plugged_in

        noise = plugged_in(self.problem)
        if noise is not None:
            words = "noise on the statistic, and what is best at the value shown"
            step = Step("plain noise", True, "", f"no route came back in time: {words}")
            self._prove(Proposal(noise.summary, noise.kernel, None, words, "stalled"), step, COMPARE_SECONDS)

    def take(self, route: Route, seconds: float, again: Until | None = None) -> None:
        """Let a route propose, and prove what it proposes; a route that does not come back in time is left behind."""
        held(SPARE)  # libraries ask for much that they never write to
        for library in route.libraries:
            import_module(library)
        held()
        begun = now()
        watch = again or self.until(self.searching)
        grace = self._grace if again is None else self._grace / LAST_PARTS

        def propose(keep: Keep[Proposal]) -> Proposal:
            return route.propose(self.units.inner, Asked(self.gap, seconds, watch, keep))

        try:
            proposal = in_time_or_so_far(propose, max(watch.left, 0.0) + grace, lambda: self._proving + self._grace)
        except (TimeIsUpError, MemoryError, TooLarge, ImportError) as error:  # a library may not fit either
            if again is None and isinstance(error, TooDearError):
                self.too_soon.append(route)
            self.passed.append(route.passed_by(f"given up: {words_of(error)}"))
            self.status = "cancelled"
            return
        finally:
            self.took["solve"] += now() - begun
        self._prove(self.units.restored(proposal), route.taken(self.problem, proposal))

    @property
    def _proving(self) -> float:
        return max(self.until(PROOF_SHARE * self.seconds).left, 0.0)

    @property
    def _grace(self) -> float:
        """By how much the next part may overrun: of all parts together not much more than one may."""
        whole = GRACE + (1 - SEARCH_SHARE) * self.seconds / 4
        over = max(self._elapsed() - self.seconds, 0.0)
        return max(whole - over, whole / LAST_PARTS)

    def _prove(self, proposal: Proposal, step: Step, least: float = 0.0) -> bool:
        """Prove a proposal in what is left of the time, or in at least so much; keep it if it is the best. False if given up."""
        held()
        begun, before, limit = now(), self.asked.best, max(self._proving + 2 * self._grace, least)
        try:
            candidate, bound = in_time(lambda: self.proofs.proved(proposal, step), limit)
            better = self._keep(candidate, bound)
        except (TimeIsUpError, MemoryError, TooLarge, ImportError) as error:  # a library may not fit either
            self.passed.append(replace(step, applied=False, reason=f"its proof was given up: {words_of(error)}"))
            self.status = "cancelled"
            return False
        finally:
            self.took["certify"] += now() - begun
        if better:
            self.rungs = proposal.rungs or self.rungs
            if before is not None:
                self.passed.insert(0, replace(before.step, applied=False, reason=f"no better; {before.step.reason}"))
        else:
            more = self.oblivious and not reads_only_the_statistic(candidate.mechanism)
            reason = "it reads more than the statistic" if more else "no better"
            self.passed.append(replace(step, applied=False, reason=f"{reason}; {step.reason}"))
        if proposal.status != "optimal":
            self.status = proposal.status
        return True

    def beside_baselines(self, compare: bool) -> dict[str, Baseline]:
        """What people do today; where the search beats none of it, it is published instead."""
        if not compare and self.asked.reached(self.gap):
            return {}  # nothing is better by more than the gap
        held(SPARE)
        from discreet.design.comparison.large import plain_baseline

        held()
        begun = now()
        if not self.proofs.tried_a_chain and not self.proofs.reached(max(self.gap, LOOSE)):
            self._keep(None, self._plain_bound())
        # a search that took all its time must not take the comparison away as well
        left = self.seconds - self._elapsed()
        most = max(self.whole.left - AFTER_COMPARING, COMPARE_SECONDS / 4)
        least = max(COMPARE_SECONDS + min(left, 0.0), COMPARE_SECONDS / 2)
        watch = Until.after(min(max(left, least), most), self.heard)
        shown, found = plain_baseline(self.units.inner), dict[str, Baseline]()
        try:
            found |= in_time(lambda: self._baselines(compare, watch, found), min(watch.left + self._grace, most))
        except (DiscreetError, MemoryError, TimeIsUpError) as error:
            watch.report(stage="baselines", message=f"not computed: {words_of(error)}")
        shown |= {name: b for name, b in dict(found).items() if b.value is not None or name not in shown}
        self.took["baselines"] = now() - begun
        self._never_worse(shown, watch)
        return shown if compare else {}

    def _plain_bound(self) -> Bound:
        """A bound that needs no search: a chain, or that of full information."""
        if self._chain is None:
            from discreet.design.ladder.bounds.chain import chain_witness

            try:
                watch = Until.after(self._grace / 4)  # what is found is proved again
                self._chain = in_time(lambda: self.proofs.bounded(chain_witness(self.problem, watch)), self._grace)
            except (DiscreetError, MemoryError, TimeIsUpError):
                known = self.proofs.limit
                told = known is not None and known.witness == TheoremWitness(FULL)
                self._chain = known if known is not None and told else self.proofs.bounded(TheoremWitness(FULL))
        return self._chain

    def _baselines(self, compare: bool, watch: Watch, found: dict[str, Baseline]) -> dict[str, Baseline]:
        if too_many(self.problem) is not None:
            from discreet.design.comparison.large import large_baselines

            return large_baselines(self.units.inner, watch, found)
        from discreet.design.comparison.baselines import FLOOR, baselines, ways_of

        ways = ways_of(self.problem, self.oblivious) if compare else FLOOR
        return baselines(self.ground(), watch, ways=ways, found=found)

    def _never_worse(self, shown: dict[str, Baseline], watch: Watch) -> None:
        """Publish a way that people use today where it is better than what was found."""
        ranked = sorted((b for b in shown.values() if b.value is not None), key=lambda b: -(b.value or 0.0))
        dust = max(DUST, self.gap / 10) if self.asked.reached(self.gap) else DUST
        for baseline in ranked:
            best = self.asked.best
            assert baseline.value is not None
            if best is not None and baseline.value <= float(best.value) + dust * float(size(float(best.value))):
                return
            if (takes := self._publishing_seconds(baseline.name)) > max(self.whole.left, 0.0):
                shown[baseline.name] = baseline.without_value(f"its proof takes about {takes:.0f} s")
                continue
            try:
                # its value was computed, so this is little work; a design worse than it is shown beside is no design
                proposal = in_time(partial(self._published, baseline.name, watch), max(self._grace, BASELINE_SECONDS))
            except (MemoryError, TimeIsUpError) as error:  # whoever has less cannot publish it
                shown[baseline.name] = baseline.without_value(words_of(error))
                continue
            except DiscreetError:
                continue
            if proposal is not None:
                step = Step(f"baseline {baseline.name}", True, "", f"no route found anything better in the time: {proposal.words}")
                if not self._prove(self.units.restored(proposal), step, BASELINE_SECONDS):
                    shown[baseline.name] = baseline.without_value(self.passed[-1].reason)

    def _publishing_seconds(self, name: str) -> float:
        """A guess of what publishing a way takes, beyond what proofs are allowed in any case."""
        from discreet.design.comparison.baselines import ways_of
        from discreet.design.comparison.large import by_law, proof_seconds

        takes = proof_seconds(self.units.inner, name)
        way = next((way for way in ways_of(self.problem) if way.name == name), None)
        if way is None or by_law(self.problem, self.units.inner, name):
            return takes
        return max(takes, SECONDS_PER_PROVED_ENTRY * way.entries(self.ground()) - GRACE)

    def _published(self, name: str, watch: Watch) -> Proposal | None:
        from discreet.design.comparison.baselines import ways_of
        from discreet.design.comparison.large import by_law, large_proposal

        if by_law(self.problem, self.units.inner, name):
            return large_proposal(self.units.inner, name)
        return next(way for way in ways_of(self.problem) if way.name == name).propose(self.ground(), watch)

    def ground(self) -> Ground:
        """The finest states of the problem, listed once."""
        if self._ground is None:
            self._ground = ground(self.units.inner)
        return self._ground

    def _elapsed(self) -> float:
        return now() - self.begun

    def found(self, shown: dict[str, Baseline]) -> Design:
        """Everything proved, once more as one certificate."""
        held(SPARE)  # what was found must not be lost at the end
        begun, best = now(), self.asked.settled()
        self.took["certify"] += now() - begun
        assert self.asked.best is not None
        reached = self.proofs.reached(self.gap) and not (self.oblivious and self.status != "optimal")
        status = "optimal" if reached else "stalled" if self.status == "optimal" else self.status
        steps = (self.asked.best.step, *self.passed)
        return Design(
            steps, shown, self.took, status, notes=_notes(self.problem), rungs=self.rungs, mechanism=best[0], certificate=best[1]
        )


def _notes(problem: Problem) -> tuple[str, ...]:
    if not (zeros := problem.zeros):
        return problem.notes
    named = ", ".join(zeros[:3]) + (f" and {len(zeros) - 3} more" if len(zeros) > 3 else "")
    words = f"The prior gives no probability to {named}: the theory assumes full support, so what the mechanism "
    return (*problem.notes, words + "does there is private but not chosen for any payoff")
