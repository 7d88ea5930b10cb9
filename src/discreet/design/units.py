"""A problem in units that floats like: values near one, counted from the least.

A loss by distance, ρ(ω − a) with ρ(c·x) = c^d·ρ(x), does not change when ω and a are both measured from another origin o and in
another unit u, if its weight becomes weight·u^d. So a problem with values of 1e-12, or of 1e15 + {0, 1, 2}, has the same
mechanisms, losses and bounds as one with values 0, 1, 2; only what outputs recommend and where multipliers stand is measured
otherwise.
Ordinary problems are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.design.program.listed import label_of
from discreet.design.program.sections import Recommendation
from discreet.design.proposal import Proposal
from discreet.frozen import dataclass
from discreet.model.actions import Actions, ListedActions, NamedActions, RealActions
from discreet.model.certificate import (
    DualWitness,
    QuotientWitness,
    RenyiWitness,
    SetAsideWitness,
    SeveralWitness,
    SingleWitness,
    UrnWitness,
    Witness,
)
from discreet.model.decision import Decision
from discreet.model.kernel import Kernel, Output, TableKernel
from discreet.model.losses import DistanceLoss
from discreet.model.problem import Problem
from discreet.model.progression import Progression
from discreet.model.statistic import MeanStatistic, SumStatistic, TableStatistic
from discreet.model.universe import Universe

LEAST_SPAN, LARGEST_SPAN, FARTHEST = Fraction(1, 1000), Fraction(10**6), 10**4
"""Values that span less or more, or lie farther from zero than so many spans, are measured anew."""


@dataclass(frozen=True)
class Units:
    """ω = origin + unit·ω′, and the same for actions; `inner` is the problem in ω′."""

    inner: Problem
    origin: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)

    @classmethod
    def of(cls, problem: Problem) -> Units:
        """The units for a problem: its own, unless its values are very small, very large or very far from zero."""
        same = cls(problem)
        if not all(isinstance(d.loss, DistanceLoss) for d in problem.decisions) or problem.unbiased is not None:
            return same  # what is exactly unbiased measures itself: `program.means`
        values, copies = _values(problem)
        if not values:
            return same
        low, span = min(values), max(values) - min(values)
        far = copies > 0 and abs(low) > FARTHEST * span
        if span == 0 or (LEAST_SPAN <= span <= LARGEST_SPAN and not far):
            return same
        unit = Fraction(10) ** (len(str(int(span))) - 1) if span >= 1 else Fraction(1, 10 ** len(str(int(1 / span))))
        shift = low if copies > 0 else Fraction(0)
        origin = shift * copies
        return cls(_measured(problem, shift, origin, unit), origin, unit)

    def restored(self, proposal: Proposal) -> Proposal:
        """A proposal for the inner problem as one for the problem itself."""
        if self.unit == 1 and self.origin == 0:
            return proposal
        witness = proposal.witness
        return replace(proposal, kernel=self._kernel(proposal.kernel), witness=None if witness is None else self._witness(witness))

    def _kernel(self, kernel: Kernel) -> Kernel:
        if isinstance(kernel, TableKernel):
            actions = [None if o.action is None else self._out(o.action) for o in kernel.outputs]
            labels = [o.label if a is None else label_of(a) for o, a in zip(kernel.outputs, actions, strict=True)]
            return replace(kernel, outputs=tuple(Output(label, a) for label, a in zip(labels, actions, strict=True)))
        listed = kernel.actions
        if isinstance(listed, Progression):
            return kernel.with_actions(listed.moved(self.origin, self.unit))
        return kernel if listed is None else kernel.with_actions([self._out(a) for a in listed])

    def _witness(self, witness: Witness) -> Witness:
        if isinstance(witness, SeveralWitness):
            return SeveralWitness(tuple(map(self._single, witness.each)))
        return self._single(witness)

    def _single(self, witness: SingleWitness) -> SingleWitness:
        if isinstance(witness, (DualWitness, QuotientWitness, RenyiWitness, SetAsideWitness, UrnWitness)):
            moved = tuple(replace(m, action=self._out(m.action)) for m in witness.multipliers)
            return replace(witness, multipliers=moved)
        return witness

    def _out(self, action: Recommendation) -> Recommendation:
        if isinstance(action, tuple):
            return tuple(self.origin + self.unit * a if isinstance(a, Fraction) else a for a in action)
        return self.origin + self.unit * action if isinstance(action, Fraction) else action


def _values(problem: Problem) -> tuple[Sequence[Fraction], int]:
    """What ω is made of, and how often a common shift of them enters ω (0: it may not be shifted)."""
    universe, statistic = problem.universe, problem.statistic
    if isinstance(statistic, TableStatistic):
        return [v for _, v in statistic.table], 1
    if not isinstance(universe, Universe):
        return (), 0
    if isinstance(statistic, MeanStatistic):
        return universe.values, 1
    if isinstance(statistic, SumStatistic):
        return universe.values, universe.largest if universe.fixed else 0
    return (), 0


def _measured(problem: Problem, shift: Fraction, origin: Fraction, unit: Fraction) -> Problem:
    """The problem with every value, action and weight in the new units."""
    statistic, universe = problem.statistic, problem.universe
    if isinstance(statistic, TableStatistic):
        statistic = replace(statistic, table=tuple((name, (v - shift) / unit) for name, v in statistic.table))
    elif isinstance(universe, Universe):
        universe = replace(universe, values=tuple((v - shift) / unit for v in universe.values))
    decisions = tuple(_decision(d, origin, unit) for d in problem.decisions)
    return replace(problem, universe=universe, statistic=statistic, decisions=decisions)


def _decision(decision: Decision, origin: Fraction, unit: Fraction) -> Decision:
    weight = decision.weight * unit**decision.distance.degree
    return replace(decision, actions=_actions(decision.actions, origin, unit), weight=weight)


def _actions(actions: Actions, origin: Fraction, unit: Fraction) -> Actions:
    if isinstance(actions, ListedActions):
        return ListedActions(tuple((a - origin) / unit for a in actions.numbers))
    assert not isinstance(actions, NamedActions), "losses by distance judge numbers"
    ends = [None if end is None else (end - origin) / unit for end in (actions.lower, actions.upper)]
    return RealActions(*ends)
