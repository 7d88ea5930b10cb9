"""A family for cells of 10..60 households of SY Example 1 (real actions): total time and share proved within 1e-6.

`python bench/families.py [FROM TO [WORKERS]]`. Nothing is taken from a cache.
"""

from __future__ import annotations

import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from discreet.design.processes.side_by_side import cores
from discreet.design.questions.family import design_family
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

SECONDS = 60.0


def school_places(households: int) -> Problem:
    """Children in a block: SY Example 1 with squared error and real actions at ε = 1."""
    return Problem(
        Universe.of(households, tuple(map(Fraction, range(3)))),
        ReplaceOne(),
        IidPrior((Fraction(89, 100), Fraction(9, 100), Fraction(2, 100))),
        SumStatistic(),
        (Decision(SquaredLoss(), RealActions()),),
        PurePromise(Fraction(1)),
        "household",
    )


def main() -> None:
    """Print every tenth member and the totals."""
    low, high = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (10, 60)
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else cores()
    with tempfile.TemporaryDirectory() as folder:
        found = design_family(school_places(40), range(low, high + 1), seconds=SECONDS, folder=Path(folder), workers=workers)
    print(f"{'size':>5}{'loss':>12}{'gap':>10}{'seconds':>9}")
    for member, how in zip(found.family.members, found.made, strict=True):
        if how.high % 10 == 0 or how.high in (low, high):
            print(f"{how.high:>5}{-float(member.values[0][1]):>12.7f}{how.relative_gap:>10.1e}{how.seconds:>9.1f}")
    print(
        f"{len(found.made)} members in {found.seconds:.1f} s with {workers} workers (at most {SECONDS:g} s each); "
        f"{found.share_within(1e-6):.0%} proved within 1e-6"
    )


if __name__ == "__main__":
    main()
