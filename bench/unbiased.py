"""Values that can be added up: the least variance that is proved, beside staircase noise, and the processor time it takes.

School planning, p = (.89, .09, .02), ε = 1: the variance, its proved lower bound, and the ratio to staircase noise.

    python bench/unbiased.py [--respondents 4 6 10] [--gap 0.01] [--seconds 120]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from discreet.design import design
from discreet.design.program.unbiased_noise import variance
from discreet.files.problem import problem_from_document


def asked(respondents: int, unbiased: str) -> dict[str, Any]:
    """The document of a problem."""
    return {
        "data": {"respondents": respondents, "values": ["0", "1", "2"]},
        "prior": {"kind": "iid", "probabilities": ["0.89", "0.09", "0.02"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real", "unbiased": unbiased},
        "privacy": {"epsilon": "1"},
    }


def main() -> None:
    """One line for each size and way of being unbiased."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--respondents", type=int, nargs="+", default=[4, 6, 10])
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--seconds", type=float, default=120.0)
    given = parser.parse_args()
    print(f"{'N':>4} {'unbiased':>11} {'variance':>9} {'at least':>9} {'gap':>8} {'staircase':>9} {'ratio':>6} {'cpu s':>6}")
    for respondents in given.respondents:
        for unbiased in ("everywhere", "nearby"):
            problem = problem_from_document(asked(respondents, unbiased))
            begun = time.process_time()
            found = design(problem, gap=given.gap, seconds=given.seconds, compare=False)
            took = time.process_time() - begun
            noise = variance(problem, "staircase")
            print(
                f"{respondents:>4} {unbiased:>11} {float(found.loss):>9.4f} {float(found.lower_bound):>9.4f} "
                f"{found.relative_gap:>8.1e} {noise:>9.4f} {noise / float(found.loss):>6.3f} {took:>6.1f}"
            )


if __name__ == "__main__":
    main()
