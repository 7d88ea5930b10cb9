"""How long an exact proof of privacy takes: a table of 1,000 states and 100 outputs, and a closed form at any N.

Goals: the table within 2 s, the geometric kernel at N = 10^6 within a second. Peers: the same check with a Fraction for every
ratio, and in floats with NumPy (which proves nothing: it cannot tell e from its nearest double).
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

import discreet
from discreet import certify, files
from discreet.mechanisms.geometric import TruncatedGeometric, geometric_mechanism
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Output, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import compare_ratio_exp

COUNT = LinearSummary((0, 1))


def counting(respondents: int, epsilon: Fraction = Fraction(1)) -> Problem:
    """A count of so many respondents."""
    universe = Universe.of(respondents, (Fraction(0), Fraction(1)))
    decision = Decision(SquaredLoss(), RealActions())
    prior = IidPrior((Fraction(9, 10), Fraction(1, 10)))
    return Problem(universe, ReplaceOne(), prior, SumStatistic(), (decision,), PurePromise(epsilon))


def merged(states: int, outputs: int) -> Mechanism:
    """The geometric table on 0..states−1 at ε = 1/10 with neighbouring outputs merged into so many."""
    table = TruncatedGeometric(Fraction(1, 10), 0, states - 1).table()
    size = -(-states // outputs)
    rows = [tuple(map(sum, zip(*table.weights[k : k + size], strict=True))) for k in range(0, states, size)]
    kernel = TableKernel(table.states, tuple(Output(str(k)) for k in range(len(rows))), tuple(rows), table.denominator)
    problem = counting(states - 1, Fraction(1, 10))
    return Mechanism(problem, COUNT, kernel, Guarantee(PurePromise(Fraction(1, 10)), "replace-one", "respondent"))


def by_fractions(mechanism: Mechanism) -> bool:
    """Every ratio as a Fraction, compared one by one."""
    kernel = mechanism.kernel
    assert isinstance(kernel, TableKernel)
    ratios = (
        Fraction(row[i], row[j]) for row in kernel.weights for a, b in mechanism.space.edges.tolist() for i, j in ((a, b), (b, a))
    )
    epsilon = mechanism.guarantee.epsilon
    return all(compare_ratio_exp(ratio.numerator, ratio.denominator, epsilon) <= 0 for ratio in ratios)


def by_floats(mechanism: Mechanism) -> bool:
    """Log-ratios of doubles: quick, and no proof."""
    logs = mechanism.log_probabilities
    a, b = mechanism.space.edges.T
    return bool(np.abs(logs[:, a] - logs[:, b]).max() <= float(mechanism.guarantee.epsilon) * (1 + 1e-9))


def timed(work: Callable[[], object]) -> float:
    """Seconds of the better of two runs."""
    best = math.inf
    for _ in range(2):
        started = time.perf_counter()
        assert work()
        best = min(best, time.perf_counter() - started)
    return best


def proved(mechanism: Mechanism) -> bool:
    return isinstance(certify.privacy(mechanism), Certificate)


def main() -> None:
    """Print a table."""
    mechanism = merged(1000, 100)
    assert isinstance(mechanism.kernel, TableKernel)
    bits = mechanism.kernel.denominator.bit_length() - 1
    print(f"1,000 states x {len(mechanism.kernel.outputs)} outputs, weights of {bits} bits")
    exact = timed(lambda: proved(mechanism))
    print(f"  {'certify.privacy, exact':<32}{exact:>9.3f} s")
    for name, way in (("a Fraction for every ratio", by_fractions), ("NumPy floats, no proof", by_floats)):
        seconds = timed(lambda way=way: way(mechanism))
        print(f"  {name:<32}{seconds:>9.3f} s   {seconds / exact:>8.2f} times ours")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.mechanism.json"
        files.write_mechanism(path, mechanism)
        command = [sys.executable, "-I", "-S", str(Path(discreet.__file__).with_name("verify_standalone.py")), str(path)]
        alone = timed(lambda: subprocess.run(command, check=True, capture_output=True).returncode == 0)
    print(f"  {'standalone verifier, process':<32}{alone:>9.3f} s   {alone / exact:>8.2f} times ours")
    for respondents in (1_000, 10**6, 10**9):
        closed = geometric_mechanism(counting(respondents), COUNT)
        seconds = timed(lambda closed=closed: proved(closed))
        print(f"geometric kernel, N = {respondents:>13,}: {seconds * 1000:8.2f} ms")
    table = Mechanism(counting(1_000), COUNT, TruncatedGeometric(Fraction(1), 0, 1_000).table(),
                      Guarantee(PurePromise(Fraction(1)), "replace-one", "respondent"))  # fmt: skip
    print(f"the same at N = 1,000 as a table: {timed(lambda: proved(table)) * 1000:8.0f} ms")


if __name__ == "__main__":
    main()
