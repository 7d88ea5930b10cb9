"""Several decision makers who must share one mechanism (SY fn 12), and the price each pays for sharing.

The common design maximises Σ_i weight_i·u_i. Decision maker i alone would have the best mechanism for u_i; the price is the
payoff that this exceeds what i gets from the common one: by following its recommended action (`price`), or by replying as well
as possible to everything that is published, the others' recommendations included (`price_reread` ≤ price).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.design.best_mechanism import design
from discreet.design.crew.side_by_side import side_by_side
from discreet.design.questions.regret import under
from discreet.design.result import Design
from discreet.errors import InputError
from discreet.model.decision import Decision
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch


@dataclass(frozen=True, eq=False)
class Share:
    """One decision maker: loss alone (both proved sides), loss when following the common mechanism, loss when re-reading it."""

    name: str
    weight: Fraction
    alone: tuple[float, float]
    followed: float
    reread: float

    @property
    def price(self) -> float:
        return self.followed - self.alone[1]

    @property
    def price_reread(self) -> float:
        return self.reread - self.alone[1]


@dataclass(frozen=True, eq=False)
class Shared:
    """The common design and what it is to each decision maker."""

    design: Design
    shares: tuple[Share, ...]


def shared_design(
    problem: Problem, watch: Watch = SILENT, *, gap: float = 1e-5, seconds: float = 60.0, workers: int | None = None
) -> Shared:
    """The best common mechanism, and the price that each decision maker pays for it."""
    common = design(problem, watch, gap=gap, seconds=seconds, compare=False)
    return Shared(common, prices(common, watch, gap=gap, seconds=seconds, workers=workers))


def prices(
    common: Design, watch: Watch = SILENT, *, gap: float = 1e-5, seconds: float = 60.0, workers: int | None = None
) -> tuple[Share, ...]:
    """What each decision maker gets from a common design, beside the best mechanism for it alone."""
    problem = common.mechanism.problem
    if len(problem.decisions) < 2:
        raise InputError(
            "There is only one decision maker, who pays no price",
            found="one decision",
            allowed="two or more",
            remedy="add another [[decision]] with its weight",
        )
    single = [replace(problem, decisions=(replace(d, weight=Fraction(1)),)) for d in problem.decisions]
    tasks = [(p, gap, seconds) for p in single]
    found = side_by_side(design_one, tasks, watch, workers, "decision maker")
    alone = [d if d is not None else design_one(t, watch) for d, t in zip(found, tasks, strict=True)]
    return tuple(
        _share(common, i, decision, one, own)
        for i, (decision, one, own) in enumerate(zip(problem.decisions, single, alone, strict=True))
    )


def design_one(task: tuple[Problem, float, float], watch: Watch) -> Design:
    """One design of the comparison."""
    problem, gap, seconds = task
    return design(problem, watch, gap=gap, seconds=seconds, compare=False)


def _share(common: Design, place: int, decision: Decision, problem: Problem, own: Design) -> Share:
    """The common mechanism seen by one decision maker: only its own recommendation counts."""
    seen = under(_for_one(common, place, problem), problem)
    name = decision.name or f"decision {place + 1}"
    return Share(name, decision.weight, (float(own.lower_bound), float(own.loss)), seen.followed, seen.reread)


def _for_one(common: Design, place: int, problem: Problem) -> Mechanism:
    """The same kernel whose outputs recommend one decision maker's actions alone."""
    mechanism = common.mechanism
    listed = [action for action in mechanism.kernel.recommended or () if action is not None]
    own = [action[place] if isinstance(action, tuple) else action for action in listed]
    return replace(mechanism, problem=problem, kernel=mechanism.kernel.with_actions(own))
