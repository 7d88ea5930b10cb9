"""What a design loads: nothing that it does not use, or half its time goes into imports."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from fractions import Fraction
from discreet.design import design
from discreet.model.decision import Decision, integer_actions
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

prior = IidPrior((Fraction(89, 100), Fraction(9, 100), Fraction(2, 100)))
decision = Decision(SquaredLoss(), integer_actions(Fraction(0), Fraction(8)))
people = Universe.of(4, tuple(map(Fraction, range(3))))
found = design(Problem(people, ReplaceOne(), prior, SumStatistic(), (decision,), PurePromise(Fraction(1))), compare=False)
assert found.relative_gap <= 1e-6
print(" ".join(sys.modules))
"""


def test_a_design_loads_neither_shapes_nor_laws_nor_what_others_do() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "discreet.design.solver.interior" in loaded
    unused = {"pydantic", "flint", "scipy", "numpy.ma", "rich", "typer", "discreet.design.comparison", "discreet.views"}
    assert loaded & unused == set()
