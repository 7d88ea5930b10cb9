"""Witnesses that are theorems: their conditions are checked again, and their formulas computed again."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import Refuted
from discreet.model.certificate import TheoremWitness
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem


def theorem_value(mechanism: Mechanism, witness: TheoremWitness) -> Fraction | None:
    """A lower side of the value where the theorem brings its own formula; None when the general one will do."""
    return None


def theorem_upper_bound(problem: Problem, mechanism: Mechanism, witness: TheoremWitness) -> Fraction:
    raise Refuted("the certificate rests on a theorem that is not known", witness.theorem)
