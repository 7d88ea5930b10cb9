"""Plain noise: geometric noise on ω (discrete Gaussian under ρ) taken at face value. Its loss is known whatever the truth.

With r = e^(−εu/Δ) on a lattice of unit u, Δ the most that one respondent moves ω,
    E Z² = u²·2r/(1−r)²,        E|Z| = u·2r/(1−r²),
and gathering at the ends of the range only lowers it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, expm1, floor, sqrt

from discreet.design.ladder.mechanisms.noise import staircase_noise
from discreet.design.memory import must_fit
from discreet.model.actions import Action, ListedActions, NamedActions, RealActions
from discreet.model.gaussian_kernel import MOST_VARIANCE
from discreet.model.kernel import GaussianKernel, GeometricKernel, Kernel, StaircaseKernel, TableKernel
from discreet.model.lattice import StatisticLattice, statistic_lattice
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.problem import Problem
from discreet.model.progression import Progression
from discreet.model.promises import ConcentratedPromise
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.discrete_gaussian import gaussian_moments

MOST_OUTPUTS = 3_000_000
"""Of a kernel that lists an action for each of its outputs."""
BYTES_PER_VALUE, BYTES_PER_EVEN_VALUE = 130, 48
"""Memory of plain noise for each value that it shows, made, proved and written; where all are recommended as they are."""
MOST_PLUGGED_IN = 200_000
"""Payoffs that are looked at for what is best at each value."""
DEVIATIONS, STEPS_OF_NOISE = 10.0, 40.0
"""How far a window of noise reaches beyond the means it is for: deviations of the statistic, and scales of the noise."""
RATIO_BITS = 80


def plain_noise(problem: Problem) -> float | None:
    """The loss of plain noise at face value, whatever the truth; None where no number is taken at face value, or not every one."""
    lattice = statistic_lattice(problem)
    if lattice is None or not any(problem.promise.numbers.values()) or not all(d.is_loss for d in problem.decisions):
        return None
    ends = problem.omega_range
    if any(isinstance(d.actions, RealActions) and not all(end in d.actions for end in ends) for d in problem.decisions):
        return None
    size, total = float(lattice.unit), 0.0
    for decision in problem.decisions:
        loss = decision.distance
        total += float(decision.weight) * size**loss.degree * plain_loss(problem, lattice, loss)
    return total


def plain_loss(problem: Problem, lattice: StatisticLattice, loss: DistanceLoss) -> float:
    """What plain noise loses by one loss, in units of the lattice."""
    step, promise = lattice.summary.step(problem.neighbours), problem.promise
    if step == 0:
        return 0.0
    if isinstance(promise, ConcentratedPromise):
        squares, sizes = gaussian_moments(Fraction(step * step) / (2 * promise.rho))
    else:
        fall = float(problem.epsilon) / step
        ratio, rest = exp(-fall), -expm1(-fall)
        squares, sizes = 2 * ratio / rest**2, 2 * ratio / (rest * (1 + ratio))
    return squares if isinstance(loss, SquaredLoss) else sizes / 2 * loss.pinballs


def shows_whole_range(problem: Problem, lattice: StatisticLattice) -> bool:
    """Whether noise may list an action for every value of the statistic."""
    low, high = lattice.summary.range(problem.people)
    return high - low <= MOST_OUTPUTS


def shows_as_it_is(problem: Problem) -> bool:
    """Whether every value is recommended as it is shown, to one decision maker: such a list is a progression."""
    lattice, actions = statistic_lattice(problem), problem.decisions[0].actions
    if lattice is None or len(problem.decisions) > 1 or isinstance(actions, NamedActions):
        return False
    low, high = map(lattice.omega, lattice.summary.range(problem.people))
    return actions.covers(low, high, lattice.unit)


def noise_on_the_statistic(
    problem: Problem, means: tuple[float, float] | None = None, deviation: float = 0.0, *, stairs: bool = False
) -> Mechanism | None:
    """Plain noise on ω at face value, over its whole range or as far as cells with these means reach; or noise in stairs.

    None where the statistic is no weighted sum, has too many values even so, or somebody's actions are names.
    """
    universe, lattice, promise = problem.universe, statistic_lattice(problem), problem.promise
    if lattice is None or not isinstance(universe, Universe) or not any(promise.numbers.values()):
        return None
    summary = lattice.summary
    low, high = summary.range(universe)
    step = max(1, summary.step(problem.neighbours))
    level = sqrt(2 * promise.rho) if isinstance(promise, ConcentratedPromise) else float(problem.epsilon)
    if means is not None:
        start, size = float(lattice.omega(0)), float(lattice.omega(1) - lattice.omega(0))
        beyond = DEVIATIONS * deviation / size + STEPS_OF_NOISE * step / max(level, 1e-9)
        low = max(low, floor((means[0] - start) / size - beyond))
        high = min(high, ceil((means[1] - start) / size + beyond))
        summary = replace(summary, low=low, high=high)
    if high - low > MOST_OUTPUTS or high <= low:
        return None
    even = shows_as_it_is(problem)
    must_fit((BYTES_PER_EVEN_VALUE if even else BYTES_PER_VALUE) * (high - low), f"noise that shows {high - low:,} values")
    shown: list[tuple[Action, ...] | Progression] = []
    values = Progression(lattice.omega(low), lattice.unit, high - low + 1)
    for decision in problem.decisions:
        actions = decision.actions
        if isinstance(actions, NamedActions):
            return None
        shown.append(values if even or actions == RealActions() else tuple(map(actions.nearest, values)))
    each = shown[0] if len(shown) == 1 else tuple(zip(*shown, strict=True))
    kernel: Kernel
    if isinstance(promise, ConcentratedPromise):
        variance = Fraction(step * step) / (2 * promise.rho)
        if variance > MOST_VARIANCE:
            return None
        kernel = GaussianKernel(low, high, step, variance, each)
    elif stairs:
        noise = staircase_noise(float(problem.epsilon), step)
        kernel = StaircaseKernel(low, high, step, noise.plateau, rational_above_exp(-problem.epsilon, RATIO_BITS), each)
    else:
        ratio = rational_above_exp(-problem.epsilon / step, RATIO_BITS + step.bit_length())
        kernel = GeometricKernel(low, high, step, ratio, each)
    return Mechanism(problem, summary, kernel, problem.guarantee, Claims(), {})


def plugged_in(problem: Problem) -> Mechanism | None:
    """Plain noise that is believed: everybody does what is best at the value shown. None where that is too much to list."""
    noise, lattice = noise_on_the_statistic(problem), statistic_lattice(problem)
    if noise is None or lattice is None or noise.kernel.recommended is None or isinstance(noise.kernel, TableKernel):
        return None
    values = [lattice.omega(k) for k in range(noise.kernel.low, noise.kernel.high + 1)]
    each: list[list[Action]] = []
    for decision in problem.decisions:
        actions = decision.actions
        if not isinstance(actions, ListedActions) or len(actions) * len(values) > MOST_PLUGGED_IN:
            return None
        each.append([max(actions, key=lambda a, d=decision, w=omega: d.payoff(a, w)) for omega in values])  # type: ignore[misc]
    replies = each[0] if len(each) == 1 else list(zip(*each, strict=True))
    return replace(noise, kernel=noise.kernel.with_actions(replies))
