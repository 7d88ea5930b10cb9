"""A route: one way to a mechanism. It knows its theorem, says why it does not apply before any work, and proposes.

Adding a route is adding a file here and its name to `routes.order`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from discreet.design.proposal import Proposal
from discreet.design.schedule import Until
from discreet.design.watchdog import Keep, forget
from discreet.frozen import dataclass
from discreet.model.problem import Problem
from discreet.model.promises import Promise, PurePromise
from discreet.model.record import Step


@dataclass(frozen=True)
class Asked:
    """How near to the best is near enough, how long it may take, and who watches (and ends it in time)."""

    gap: float
    seconds: float
    watch: Until
    keep: Keep[Proposal] = forget
    """Takes what makes a proposal of the best that is known, for the case that the route does not come back in time."""


class Route(ABC):
    """One way to a mechanism."""

    name: str
    theorem: str

    serves: tuple[type[Promise], ...] = (PurePromise,)
    """The kinds of promise that its mechanisms keep and that its bounds speak about."""

    unbiased: tuple[str | None, ...] = (None,)
    """The ways of being unbiased (`model.decision`) that its mechanisms have; None for values that need not be."""

    def why_not(self, problem: Problem) -> str | None:
        """Why the route does not apply, in words; None when it does. Quick, and never an error."""
        if problem.unbiased not in self.unbiased:
            asked = "values that need not be unbiased" if problem.unbiased is None else f"values unbiased {problem.unbiased}"
            return f"its mechanisms are not for {asked}"
        if not isinstance(problem.promise, self.serves):
            kinds = " or ".join(form.kind for form in self.serves)
            return f"it designs for promises that are {kinds}, not for {problem.promise.brief()}"
        return self.obstacle(problem)

    @abstractmethod
    def obstacle(self, problem: Problem) -> str | None:
        """The first condition that a problem with such a promise fails."""

    libraries: tuple[str, ...] = ()
    """What proposing imports, loaded before the clock runs: work that is left behind must not hold it half loaded."""

    @abstractmethod
    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        """A mechanism, a bound, or both."""

    def why(self, problem: Problem) -> str:
        """Why this route leads somewhere."""
        return ""

    def taken(self, problem: Problem, proposal: Proposal) -> Step:
        """The step in the design's story when the route was taken."""
        return Step(self.name, True, self.theorem, self.why(problem))

    def passed_by(self, reason: str) -> Step:
        """The step in the design's story when it was not."""
        return Step(self.name, False, self.theorem, reason)
