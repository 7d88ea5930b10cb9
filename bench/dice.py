"""What dice are worth by what is thrown beside the die of the far types, and beside an optimum that is known.

    python bench/dice.py [--only T5 --respondents 100 --epsilon 1] [--far 3] [--left-out 1e-3] [--seconds 60]
    python bench/dice.py --known

Squared error and real actions, problems of `gaps.py`. One line for each way to throw dice with so many far types: states, what they
prove in floats with the mean number of holders, as if enough surely held them, and processor seconds. `--known` is sixty
respondents with values 0, 1 and 3, of which the whole program is solved: a coin between 0 and 1 is tossed by none, one, two, four
and eight.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from math import floor

from discreet.design import design
from discreet.design.ladder.bounds.counts import solved
from discreet.design.ladder.bounds.throws import dice_of, likely_states, thrown_so_often
from discreet.design.program.thin_witness import in_passing
from discreet.design.schedule import Until
from discreet.design.solver.threads import one_thread
from discreet.files.problem import problem_from_document
from discreet.model.certificate import TypeDie, coin
from discreet.model.problem import Problem
from gaps import problem_of

GAP = 4e-3
SIXTY = {
    "data": {"respondents": 60, "values": [0, 1, 3]},
    "prior": {"kind": "iid", "probabilities": ["0.8", "0.15", "0.05"]},
    "statistic": {"kind": "sum"},
    "decision": {"kind": "squared-error", "actions": "real"},
    "privacy": {"epsilon": 1, "unit": "person"},
}


def worth(problem: Problem, dice: tuple[TypeDie, ...], left_out: float, seconds: float) -> tuple[float, float]:
    """What is proved in floats, and processor seconds."""
    began = time.process_time()
    with in_passing(), one_thread():
        found = solved(problem, dice, left_out, GAP, Until.after(seconds))[0]
    return found, time.process_time() - began


def main() -> None:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--only", default="T5")
    parser.add_argument("--respondents", type=int, default=100)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--far", type=int)
    parser.add_argument("--left-out", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    if asked.known:
        known(asked.seconds)
        return
    problem = problem_from_document(problem_of(asked.only, asked.respondents, asked.epsilon))
    print(f"{'far types':20}{'beside':24}{'throws':>7}{'states':>8}{'worth':>10}{'CPU s':>8}")
    for dice in dice_of(problem):
        far = dice[0].faces[1:]
        if asked.far in (None, len(far)):
            beside = "; ".join(f"{'/'.join(map(str, die.faces[1:]))} by {die.number}" for die in dice[1:])
            found, seconds = worth(problem, dice, asked.left_out, asked.seconds)
            states = likely_states(dice, asked.left_out)
            print(f"{' '.join(map(str, far)):20}{beside:24}{dice[0].number:7}{states:8,}{found:10.5g}{seconds:8.1f}", flush=True)


def known(seconds: float) -> None:
    """What a coin for type 1 is worth beside the optimum."""
    problem = problem_from_document(SIXTY)
    best = design(problem, gap=1e-3, seconds=seconds, compare=False)
    print(f"the best mechanism loses {float(best.loss):.5g}, at least {float(best.lower_bound):.5g}")
    for tossed in (0, 1, 2, 4, 8):
        share = Fraction(tossed, 60)
        shares = Fraction(8, 10) - share / 2, Fraction(1, 20)
        die = TypeDie((0, 2), shares, 0, ((0, 0),))
        main = thrown_so_often(die, floor(60 * sum(shares)))
        assert main is not None
        dice = (main, coin(0, 1, share, tossed, 0, tossed)) if tossed else (main,)
        found, took = worth(problem, dice, 0.0, seconds)
        print(f"type 1 tossed by {tossed}: {found:.5g}, {1 - found / float(best.loss):.1%} less, {took:.1f} CPU s", flush=True)


if __name__ == "__main__":
    main()
