"""`discreet design PROBLEM`: one best mechanism, and what following it costs when the prior or the payoff is another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.cli.keeping import kept, next_step, writable
from discreet.cli.pictures import drawable, drawn
from discreet.design import Design, design
from discreet.design.memory import held
from discreet.design.questions.both import both
from discreet.design.questions.decision_makers import Share, prices
from discreet.design.questions.hedge import NEVER, hedge, must_be_hedgeable
from discreet.design.questions.regret import must_be_valued, must_compare, regret
from discreet.design.questions.regret_surface import Spot, corners, drawn_around, surface
from discreet.design.questions.sensitivity import sensitivity
from discreet.design.schedule import WORTH_A_PROCESS, TimeIsUpError, Until, cores, time_left, until_all_is_shown
from discreet.design.watchdog import while_time_lasts
from discreet.errors import InputError
from discreet.files import certificate_path, record_path, write_records
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.numerics.exact import exact
from discreet.views.both import both_view
from discreet.views.design import design_view
from discreet.views.reliance import relied_on, skipped
from discreet.views.sharing import shares_view, slopes_view
from discreet.views.view import View, mind, told
from discreet.views.wrong_prior import alternative_view, drawn_view, neighbourhood_view
from discreet.watch import Watch

GAP = 1e-6
STEPS = 4
"""Radii of a picture, evenly up to the one that is asked for."""
MOST_OF_WHAT_IS_LEFT, NEARLY_ALL = 0.5, 0.6
SEED = 1
"""Of drawn priors; printed beside them."""


@dataclass(frozen=True)
class BestMechanism:
    """The question with everything that is asked beside it."""

    problem: Problem
    seconds: float
    gap: float | None = None
    within: str | None = None
    slopes: bool = False
    workers: int | None = None
    output: Path | None = None
    figure: Path | None = None
    alternative: Problem | None = None
    around: Around | None = None
    hedge: Fraction | None = None
    never: float | None = NEVER

    def __post_init__(self) -> None:
        drawable(self.figure)
        if self.output is not None:
            writable(self.output, certificate_path(self.output), record_path(self.output))
        if self.hedge is not None:
            must_be_hedgeable(self.problem)
        if self.alternative is not None:
            must_compare(self.problem, self.alternative)
        if self.alternative is not None or self.around is not None:
            must_be_valued(self.problem)
        if self.slopes:
            self.problem.finest()  # slopes look at every state, and refuse what has too many

    def answer(self, watch: Watch) -> View:
        """Design, keep what was found, then look further."""
        gap = GAP if self.gap is None else self.gap
        whole = until_all_is_shown(self.seconds, watch)
        asked: dict[str, Any] = {"within": self.within, "keep": self._keeper, "workers": self.workers}
        found = design(self.problem, watch, gap=gap, seconds=self.seconds, **asked)
        hedged = None if self.hedge is None else hedge(found.mechanism, found.certificate, self.hedge, self.never, whole)
        chosen = found if hedged is None else replace(found, mechanism=hedged.mechanism, certificate=hedged.certificate)
        written = View({}, ())
        if self.output is not None:
            written = kept(self.output, chosen.mechanism, chosen.certificate, chosen.record()) + next_step(f"certify {self.output}")
        held()
        view = design_view(found, whole) + relied_on(found, hedged, whole)
        if self.output is not None:
            with suppress(TimeIsUpError, MemoryError):
                looked = while_time_lasts(lambda: chosen.record(looked=True), whole)
                write_records(record_path(self.output), [looked])
        if self._asks_more:
            whole = until_all_is_shown(self.seconds, watch)  # whoever asks for more designs gives them as much time again
        for name, extra in self._extras(found, whole):
            try:
                view += while_time_lasts(extra, whole)
            except (TimeIsUpError, MemoryError) as error:
                view += skipped(name, error)
        if self.figure is not None and self.around is None:
            from discreet.present import comparison_figure

            view += drawn(comparison_figure(found), self.figure)
        return view + written

    @property
    def _asks_more(self) -> bool:
        return self.slopes or self.alternative is not None or self.around is not None

    def _extras(self, found: Design, watch: Watch) -> Iterator[tuple[str, Callable[[], View]]]:
        """What is asked for beside the design, by name; what there is no time for is passed over in words."""
        alternative, around = self.alternative, self.around
        if alternative is not None:
            yield "the regret under the other problem", lambda: self._under(found, alternative, watch)
        if around is not None:
            yield "the regret around the prior", lambda: around.answer(found, watch, self)
        if self.problem.unbiased is not None:
            yield "what other readers gain", lambda: both_view(both(found.mechanism, watch))
        if len(self.problem.decisions) > 1:
            yield "the price of sharing", lambda: shares_view(self._prices(found, watch))
        if self.slopes:
            yield "how the optimum moves", lambda: slopes_view(sensitivity(found, watch))

    def _under(self, found: Design, other: Problem, watch: Watch) -> View:
        return alternative_view(regret(found.mechanism, other, watch, seconds=self.time_for(watch)))

    def _prices(self, found: Design, watch: Watch) -> tuple[Share, ...]:
        each = self.time_for(watch) / len(self.problem.decisions)  # of the processor, however many work side by side
        return prices(found, watch, seconds=each, workers=self.workers or (cores() if each > WORTH_A_PROCESS else 1))

    def time_for(self, watch: Watch) -> float:
        """What other designs may take together: not all that is left, since what they find is proved and valued."""
        return min(self.seconds, MOST_OF_WHAT_IS_LEFT * time_left(watch))

    @property
    def _keeper(self) -> Callable[[Mechanism, Certificate], object] | None:
        """What the search found is on disk before baselines are computed; a hedge is another mechanism and comes later."""
        output = self.output
        if output is None or self.hedge is not None:
            return None
        return lambda mechanism, certificate: kept(output, mechanism, certificate)


@dataclass(frozen=True)
class Around:
    """Priors around the problem's own: corners at a radius, or draws around reference counts."""

    spots: tuple[Spot, ...]
    radius: str | None = None

    @staticmethod
    def at_radius(problem: Problem, radius: str, pictured: bool) -> Around:
        """The corners at a radius; a picture shows smaller radii too."""
        widest = exact(radius, "radius")
        radii = [widest * k / STEPS for k in range(1, STEPS + 1)] if pictured else [widest]
        return Around(corners(problem, radii), radius)

    @staticmethod
    def of_counts(problem: Problem, draws: int, counts: str | None) -> Around:
        """Priors drawn around counts of each type such as "890,90,20", or around those of a reference prior."""
        return Around(drawn_around(problem, draws, SEED, None if counts is None else _counts(problem, counts)))

    def answer(self, found: Design, watch: Watch, asked: BestMechanism) -> View:
        """The regret at each of these priors, within the time that is left."""
        soon = Until.after(NEARLY_ALL * time_left(watch), watch)  # what was looked at by then is told
        places = surface(found.mechanism, self.spots, soon, seconds=asked.time_for(watch), workers=asked.workers)
        if self.radius is None:
            view = drawn_view(places, len(self.spots), SEED)
        else:
            view = neighbourhood_view(places, self.radius, float(exact(self.radius)))
        if len(places.places) < len(self.spots):
            view += told(
                {}, mind(f"the time was enough for {len(places.places)} of {len(self.spots)} priors; allow more --seconds.")
            )
        if asked.figure is not None:
            from discreet.present import regret_figure

            view += drawn(regret_figure(places), asked.figure)
        return view


def _counts(problem: Problem, text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    types = problem.universe.types if isinstance(problem.universe, Universe) else 0
    if len(parts) != types or not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(
            "Reference counts are whole numbers, one for each type",
            found=text,
            allowed=f"{types} numbers with commas",
            remedy="for instance --counts 890,90,20 for three types",
        )
    return [int(part) for part in parts]
