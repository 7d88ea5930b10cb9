"""How the optimum moves with ε and with the prior.

Envelope theorem: at an optimum only the direct effect counts. With multipliers z on q·x_j − x_i ≥ 0, q = e^ε,
  dL*/dε = −Σ_a Σ_{i→j} z_a(i→j)·q·x_a(j),
and moving an iid prior from p towards type t, p(κ) = (1−κ)p + κ·e_t,
  dL*/dκ = Σ_h π(h)·(h_t/p_t − N)·ℓ(h),   ℓ(h) the expected loss of the optimal mechanism at histogram h.
Both are read off a design that is optimal only to its gap, so they are estimates; `brackets` proves slopes between two ε by
finite differences of certified sides: [L̲(ε+δ) − L̄(ε), L̄(ε+δ) − L̲(ε)] / δ holds the average slope.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.design.best_mechanism import design
from discreet.design.comparison.evaluation import Seen, seen
from discreet.design.crew.side_by_side import side_by_side
from discreet.design.program.sections import losses
from discreet.design.questions.regret import corner_priors
from discreet.design.result import Design
from discreet.errors import InputError
from discreet.model.certificate import DualWitness
from discreet.model.priors import IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch

STEP = Fraction(1, 50)


@dataclass(frozen=True)
class Slope:
    """The change of the least loss for each unit of one number: an estimate, and proved sides of the average slope."""

    of: str
    estimate: float
    low: float | None = None
    high: float | None = None
    step: float | None = None


def sensitivity(
    found: Design,
    watch: Watch = SILENT,
    *,
    prove: bool = False,
    step: Fraction = STEP,
    gap: float = 1e-6,
    seconds: float = 60.0,
    workers: int | None = None,
) -> list[Slope]:
    """Slopes of the least loss in ε and towards each type; `prove` adds brackets by designing at neighbouring problems."""
    problem = found.mechanism.problem
    slopes = [Slope("epsilon", epsilon_slope(found))]
    if isinstance(problem.prior, (IidPrior, ReferencePrior)) and isinstance(problem.universe, Universe):
        slopes += [Slope(f"type {t}", s) for t, s in enumerate(prior_slopes(found))]
    return slopes if not prove else brackets(found, slopes, watch, step, gap, seconds, workers)


def epsilon_slope(found: Design) -> float:
    """dL*/dε from the multipliers of the certificate; from two neighbouring designs where a theorem stands for them."""
    witness, mechanism = found.claim.witness, found.mechanism
    kernel = mechanism.kernel
    if not isinstance(witness, DualWitness) or not kernel.by_state:
        near = [design(mechanism.problem.with_epsilon(e), compare=False) for e in _around(mechanism.problem.epsilon)]
        return float((near[1].loss - near[0].loss) / (near[1].mechanism.guarantee.epsilon - near[0].mechanism.guarantee.epsilon))
    flows = _flow_into(witness, kernel.state_count)
    probabilities = mechanism.probabilities
    total = 0.0
    for output, row in zip(kernel.outputs, probabilities, strict=True):
        total += float(_interpolated(flows, output.action, witness.kind) @ row)
    return -float(np.exp(float(mechanism.guarantee.epsilon))) * total


def prior_slopes(found: Design) -> list[float]:
    """dL*/dκ towards each type, at fixed mechanism."""
    mechanism = found.mechanism
    problem = mechanism.problem
    prior, universe = problem.prior, problem.universe
    if not isinstance(prior, (IidPrior, ReferencePrior)) or not isinstance(universe, Universe):
        raise InputError(
            "Slopes towards a type need an iid prior",
            found=prior.kind,
            allowed="iid or reference",
            remedy="compare with an alternative prior instead",
        )
    view = seen(mechanism)
    vectors = np.asarray(problem.finest().vectors)
    expected = _expected_losses(mechanism.problem, found, view)
    total = float(view.masses @ (vectors.sum(axis=1) * expected))
    slopes = []
    for t, p in enumerate(prior.probabilities):
        if p == 0:
            slopes.append(float("nan"))
            continue
        slopes.append(float(view.masses @ (vectors[:, t] * expected)) / float(p) - total)
    return slopes


def brackets(
    found: Design, slopes: list[Slope], watch: Watch, step: Fraction, gap: float, seconds: float, workers: int | None
) -> list[Slope]:
    """The slopes with proved sides of the average slope over a step."""
    problem = found.mechanism.problem
    others = [problem.with_epsilon(problem.epsilon + step)]
    if len(slopes) > 1:
        others += [replace(problem, prior=corner) for corner in corner_priors(problem, step)]
    tasks = [(other, gap, seconds) for other in others]
    sides = side_by_side(two_sides, tasks, watch, workers, "slope")
    proved = []
    for slope, side in zip(slopes, sides, strict=True):
        if side is None:
            proved.append(slope)
            continue
        low = float((side[0] - found.loss) / step)
        high = float((side[1] - found.lower_bound) / step)
        proved.append(replace(slope, low=low, high=high, step=float(step)))
    return proved


def two_sides(task: tuple[Problem, float, float], watch: Watch) -> tuple[Fraction, Fraction]:
    """Both proved sides of the least loss of a problem."""
    problem, gap, seconds = task
    found = design(problem, watch, gap=gap, seconds=seconds, compare=False)
    return found.lower_bound, found.loss


def _around(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    step = Fraction(1, 1000)
    return (epsilon - step, epsilon + step) if epsilon > step else (epsilon, epsilon + step)


def _flow_into(witness: DualWitness, states: int) -> list[tuple[object, np.ndarray]]:
    """For each action of the witness, Σ_i z(i→j) by state j."""
    found: list[tuple[object, np.ndarray]] = []
    for m in witness.multipliers:
        into = np.zeros(states)
        for _, head, flow in m.flows:
            into[head] += flow / witness.scale
        found.append((m.action, into))
    return found


def _interpolated(flows: list[tuple[object, np.ndarray]], action: object, kind: str) -> np.ndarray:
    """The flow of one action: listed, or between the two nodes around it."""
    if kind == "dual":
        return next((into for a, into in flows if a == action), np.zeros_like(flows[0][1]))
    nodes = np.array([float(a) for a, _ in flows])  # type: ignore[arg-type]
    at = float(action)  # type: ignore[arg-type]
    right = int(np.clip(np.searchsorted(nodes, at), 1, len(nodes) - 1))
    share = float(np.clip((at - nodes[right - 1]) / (nodes[right] - nodes[right - 1]), 0, 1))
    return np.asarray((1 - share) * flows[right - 1][1] + share * flows[right][1])


def _expected_losses(problem: Problem, found: Design, view: Seen) -> np.ndarray:
    """ℓ(h) of following the recommended actions, at each finest state."""
    distinct = view.values
    actions = [o.action for o in found.mechanism.outputs]
    if problem.real_actions:
        numbers = np.array([float(a) for a in actions])  # type: ignore[arg-type]
        values = np.array([float(w) for w in distinct])
        table = float(problem.decision.weight) * problem.decision.loss.table(numbers, values)
    else:
        table = losses(problem, actions, distinct)  # type: ignore[arg-type]
    return np.asarray((view.kernel * table.take(view.column, axis=1)).sum(axis=0))
