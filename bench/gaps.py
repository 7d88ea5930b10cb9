"""How far apart what is lost and what is proved are with five and ten types, and which side is loose.

    python bench/gaps.py --seconds 120 [--only T5 --respondents 20 50 --epsilons 1] [--decision absolute] [--ladder]
        [--workers 2] [--json FILE]

Squared error and real actions unless `--decision` says otherwise (other errors, two decision makers, actions in steps of five),
ε of 1/4, 1 and 2; T5 has values 0..5, T10 values 0..10, income the values of eleven brackets; `-over` draws the probabilities from
a Dirichlet of concentration 20. One line for each point: loss, bound, gap, the rungs that gave them and processor seconds. Loss and
bound of every rung stand in the file of `--json`. `--ladder` climbs the ladder alone by the clock of the processor, so that a busy
machine gives every point the seconds it says, and proves what it found; `design` gives it 0.6 to 0.85 of its time. `--workers`
says how many processes share out parts of a search; with `--ladder` they work one after the other, by a clock that shows what it
would be if they worked at once.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from discreet.certify.optimality import proved_bound, proved_value
from discreet.design import design
from discreet.design.crew import shared_out
from discreet.design.ladder import climb as ladder
from discreet.design.ladder import likely
from discreet.design.ladder.bounds import set_aside_solver, urn_solver
from discreet.design.ladder.mechanisms.rungs import WeightsBySearch
from discreet.design.schedule import working_with
from discreet.design.solver.threads import one_thread
from discreet.files.problem import problem_from_document
from discreet.model.certificate import OptimalityClaim
from discreet.model.guarantee import Guarantee
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.record import Reached
from discreet.watch import SILENT, Watch

FALLING = [Fraction(3, 5) ** t for t in range(11)]
POPULATIONS: dict[str, tuple[list[Fraction], list[int]]] = {
    "T5": ([Fraction(x, 1000) for x in (800, 100, 50, 30, 15, 5)], list(range(6))),
    "T10": ([x / sum(FALLING) for x in FALLING], list(range(11))),
    "income": (
        [Fraction(x, 1000) for x in (300, 180, 140, 110, 90, 70, 50, 30, 18, 9, 3)],
        [0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100],
    ),
}
CONCENTRATION = 20
DECISIONS: dict[str, object] = {
    "squared": {"kind": "squared-error", "actions": "real"},
    "absolute": {"kind": "absolute-error", "actions": "real"},
    "pinball": {"kind": "pinball", "quantile": "0.9", "actions": "real"},
    "two": [
        {"kind": "squared-error", "actions": "real"},
        {"kind": "pinball", "quantile": "0.9", "actions": "real", "weight": 10},
    ],
}


def decision_of(name: str, most: int) -> object:
    """A decision by its name; `listed` and `whole` are squared errors with actions in steps of five, or one, up to the most."""
    steps = {"listed": 5, "whole": 1}
    if name in steps:
        return {"kind": "squared-error", "actions": {"from": 0, "to": most, "step": steps[name]}}
    return DECISIONS[name]


SIZES, EPSILONS = (20, 50, 100, 200, 1000), ("1/4", "1", "2")


def problem_of(name: str, respondents: int, epsilon: str, decision: str = "squared") -> dict[str, object]:
    shares, values = POPULATIONS[name.removesuffix("-over")]
    prior: dict[str, object] = {"kind": "iid", "probabilities": [str(p) for p in shares]}
    if name.endswith("-over"):
        prior = {"kind": "exchangeable", "concentration": [str(CONCENTRATION * p) for p in shares]}
    return {
        "data": {"respondents": respondents, "values": values},
        "prior": prior,
        "statistic": {"kind": "sum"},
        "decision": decision_of(decision, respondents * max(values)),
        "privacy": {"epsilon": epsilon, "unit": "household"},
    }


class QuietCores:
    """The clock of the processor as so many quiet cores would show it."""

    def __init__(self) -> None:
        self.spared = 0.0

    def __call__(self) -> float:
        return time.process_time() - self.spared

    def set(self, shown: float) -> None:
        """Go on from what is shown."""
        self.spared = time.process_time() - shown

    def crew(
        self, work: Callable[[object, Watch], object], tasks: Sequence[object], watch: Watch, workers: int, name: str
    ) -> list[object]:
        """The tasks one after the other, each from the time on at which the first of so many workers has nothing to do."""
        free, found = [self()] * workers, []
        for task in tasks:
            first = free.index(min(free))
            self.set(free[first])
            found.append(work(task, watch))
            free[first] = self()
        self.set(max(free))
        return found

    def both(self, first: Callable[[], object] | None, second: Callable[[], object] | None) -> tuple[object, object]:
        """Both, one after the other, each from the same time on."""
        one, other = self.crew(lambda work, _: work and work(), (first, second), SILENT, 2, "")
        return one, other


def climbed(problem: Problem, seconds: float, workers: int) -> tuple[Sequence[Reached], float, float]:
    """Rungs, proved loss and proved bound of the ladder by the processor's clock."""
    clock = QuietCores()
    time.monotonic = clock
    likely.side_by_side, shared_out.side_by_side = clock.both, clock.crew
    urn_solver.THREADS = set_aside_solver.THREADS = 1  # a clock of the processor counts both
    with one_thread(), working_with(workers):
        proposal = ladder.climb(problem, seconds=seconds)
    guarantee = Guarantee(PurePromise(problem.epsilon), problem.neighbours.name, problem.unit)
    mechanism = Mechanism(problem, proposal.summary, proposal.kernel, guarantee)
    claim = OptimalityClaim(Fraction(0), Fraction(0), proposal.witness)
    return proposal.rungs, float(-proved_value(mechanism, claim)), float(-proved_bound(mechanism, claim))


def measured(name: str, respondents: int, epsilon: str, chosen: argparse.Namespace) -> dict[str, object]:
    """One point; the rungs named are the first that reached the loss, and the bound."""
    begun = time.process_time()
    problem = problem_from_document(problem_of(name, respondents, epsilon, chosen.decision))
    if chosen.ladder:
        found, loss, bound = climbed(problem, chosen.seconds, chosen.workers)
    else:
        whole = design(problem, seconds=chosen.seconds, compare=False, workers=chosen.workers)
        found, loss, bound = whole.rungs, float(whole.loss), float(whole.lower_bound)
    rungs = [(r.name, float(r.loss), float(r.lower_bound)) for r in found]
    return {
        "problem": name,
        "respondents": respondents,
        "epsilon": epsilon,
        "decision": chosen.decision,
        "loss": loss,
        "bound": bound,
        "gap": 1 - bound / loss,
        "mechanism by": next((r for r, x, _ in rungs if x <= loss * (1 + 1e-6)), "comparison"),
        "bound by": next((r for r, _, x in rungs if x >= bound * (1 - 3e-3)), "another route"),
        "cpu": time.process_time() - begun,
        "rungs": rungs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*POPULATIONS, *(f"{name}-over" for name in POPULATIONS)]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--respondents", nargs="+", type=int, default=SIZES)
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--decision", choices=[*DECISIONS, "listed", "whole"], default="squared")
    parser.add_argument("--ladder", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--mechanisms", action="store_true")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if chosen.mechanisms:
        ladder.RUNGS = tuple(rung for rung in ladder.RUNGS if type(rung).__module__ == WeightsBySearch.__module__)
    points = []
    print(f"{'problem':12} {'N':>5} {'ε':>4} {'loss':>10} {'bound':>10} {'gap':>7}  {'mechanism by':22} {'bound by':24} CPU s")
    for name in chosen.only:
        for respondents in chosen.respondents:
            for epsilon in chosen.epsilons:
                point = measured(name, respondents, epsilon, chosen)
                points.append(point)
                print(
                    f"{name:12} {respondents:5} {epsilon:>4} {point['loss']:10.5g} {point['bound']:10.5g} {point['gap']:7.2%}  "
                    f"{point['mechanism by']:22} {point['bound by']:24} {point['cpu']:.0f}",
                    flush=True,
                )
    if chosen.json:
        chosen.json.write_text(json.dumps(points, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
