"""A design: the mechanism, its proof, how it was found, and what people do today beside it.

`value` and `bound` are expected payoffs with value ≤ optimum ≤ bound, both proved; for losses also `loss` and `lower_bound`.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.errors import TooLarge
from discreet.frozen import dataclass
from discreet.model.certificate import Certificate, OptimalityClaim
from discreet.model.mechanism import Mechanism
from discreet.model.record import Behaviour, Making, Record

if TYPE_CHECKING:
    from discreet.design.comparison.evaluation import Evaluation


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Design(Making):
    """What `design` returns."""

    mechanism: Mechanism
    certificate: Certificate

    def __repr__(self) -> str:
        return f"<design: value {float(self.value):.6g}, bound {float(self.bound):.6g}; {self.mechanism.guarantee}>"

    @property
    def claim(self) -> OptimalityClaim:
        assert self.certificate.optimality is not None
        return self.certificate.optimality

    @property
    def value(self) -> Fraction:
        return self.claim.value

    @property
    def bound(self) -> Fraction:
        return self.claim.bound

    @property
    def loss(self) -> Fraction:
        return -self.claim.value

    @property
    def lower_bound(self) -> Fraction:
        return -self.claim.bound

    @property
    def relative_gap(self) -> float:
        return self.claim.relative_gap

    @property
    def reduction(self) -> str:
        return next(step.name for step in self.steps if step.applied)

    @property
    def theorem(self) -> str:
        return next(step.theorem for step in self.steps if step.applied)

    @cached_property
    def evaluation(self) -> Evaluation:
        """Bias, risk and totals: what the expected loss alone does not say."""
        from discreet.design.comparison.evaluation import evaluate

        return evaluate(self.mechanism)

    @cached_property
    def behaviour(self) -> Behaviour:
        """What of that is known whatever the size: slope, bias and totals."""
        from discreet.design.comparison.behaviour import behaviour

        return behaviour(self.mechanism)

    def record(self, looked: bool = False) -> Record:
        """What is kept beside the mechanism; with `looked` also how recommended actions behave, where that can be computed."""
        looked_at = None
        if looked:
            with suppress(TooLarge):
                looked_at = self.behaviour
        return Record(**self.course, mechanism=self.certificate.mechanism, behaviour=looked_at)

    @staticmethod
    def recorded(mechanism: Mechanism, certificate: Certificate, record: Record) -> Design:
        """The design that a record describes."""
        return Design(**record.course, mechanism=mechanism, certificate=certificate)

    def explain(self) -> str:
        """Which reduction applied and why the others did not, in plain words; then the rungs of the ladder."""
        return "\n".join([*map(str, self.steps), *map(str, self.rungs)])
