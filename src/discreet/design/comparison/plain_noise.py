"""Plain noise: geometric noise on ω taken at face value. Its loss is known whatever the truth.

With r = e^(−εu/Δ) on a lattice of unit u, Δ the most that one respondent moves ω,
    E Z² = u²·2r/(1−r)²,        E|Z| = u·2r/(1−r²),
and gathering at the ends of the range only lowers it.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, exp, floor

from discreet.model.actions import Action, NamedActions
from discreet.model.kernel import GeometricKernel
from discreet.model.lattice import statistic_lattice
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp

MOST_OUTPUTS = 1_100_000
"""Of a kernel that lists an action for each of its outputs."""
DEVIATIONS, STEPS_OF_NOISE = 10.0, 40.0
"""How far a window of noise reaches beyond the means it is for: deviations of the statistic, and scales of the noise."""
RATIO_BITS = 80


def plain_noise(problem: Problem) -> float | None:
    """The loss of geometric noise at face value, whatever the truth; None where no number is taken at face value."""
    lattice = statistic_lattice(problem)
    if lattice is None or problem.epsilon == 0 or not all(d.is_loss for d in problem.decisions):
        return None
    step = lattice.summary.step(problem.neighbours)
    if step == 0:
        return 0.0
    ratio = exp(-float(problem.epsilon) / step)
    size, total = float(lattice.unit), 0.0
    for decision in problem.decisions:
        loss = decision.loss
        assert isinstance(loss, DistanceLoss)
        if isinstance(loss, SquaredLoss):
            found = size**2 * 2 * ratio / (1 - ratio) ** 2
        else:
            found = size * ratio / (1 - ratio**2) * loss.pinballs
        total += float(decision.weight) * found
    return total


def noise_on_the_statistic(
    problem: Problem, means: tuple[float, float] | None = None, deviation: float = 0.0
) -> Mechanism | None:
    """Geometric noise on ω at face value, over its whole range or as far as cells with these means reach.

    None where the statistic is no weighted sum, has too many values even so, or somebody's actions are names.
    """
    universe, lattice = problem.universe, statistic_lattice(problem)
    if lattice is None or not isinstance(universe, Universe) or problem.epsilon == 0:
        return None
    summary = lattice.summary
    low, high = summary.range(universe)
    step = max(1, summary.step(problem.neighbours))
    if means is not None:
        start, size = float(lattice.omega(0)), float(lattice.omega(1) - lattice.omega(0))
        beyond = DEVIATIONS * deviation / size + STEPS_OF_NOISE * step / max(float(problem.epsilon), 1e-9)
        low = max(low, floor((means[0] - start) / size - beyond))
        high = min(high, ceil((means[1] - start) / size + beyond))
        summary = replace(summary, low=low, high=high)
    if high - low > MOST_OUTPUTS or high <= low:
        return None
    ratio = rational_above_exp(-problem.epsilon / step, RATIO_BITS + step.bit_length())
    shown: list[list[Action]] = []
    for decision in problem.decisions:
        actions = decision.actions
        if isinstance(actions, NamedActions):
            return None
        shown.append([actions.nearest(lattice.omega(k)) for k in range(low, high + 1)])
    each = tuple(shown[0]) if len(shown) == 1 else tuple(zip(*shown, strict=True))
    return Mechanism(problem, summary, GeometricKernel(low, high, step, ratio, each), problem.guarantee, Claims(), {})
