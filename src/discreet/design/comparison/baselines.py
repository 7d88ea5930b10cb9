"""What people do today, valued by the same decision: every design is shown beside these.

Each adds noise somewhere and lets the reader reply as well as possible (Bayes), except `truncated geometric`, where the reader
takes the clipped number at face value. Kernels here are floats over the statistic's values: nothing is published from them.

`geometric`        noise ∝ e^(−ε|k|/Δ) on ω, Δ its sensitivity          `laplace`    its continuous twin
`staircase`        Geng & Viswanath's noise on ω                        `inverse sensitivity`  ∝ e^(−ε·d(ω, ω′)/2), d replacements
`noisy histogram`  geometric noise of scale 2/ε on every count          `best oblivious`       the best mechanism that reads only ω
`no information`   the best constant action                             `full information`     the truth
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp

import numpy as np

from discreet.design.ladder.mechanisms.proxy import geometric_baseline
from discreet.design.program.sections import Ground, summed
from discreet.design.result import Baseline
from discreet.design.routes.oblivious import best_oblivious, lattice_summary
from discreet.errors import DiscreetError, InputError, TooLarge
from discreet.mechanisms.staircase import best_step_width
from discreet.model.actions import NamedActions
from discreet.model.neighbours import AddRemoveOne
from discreet.model.problem import Problem
from discreet.model.replies import best_replies, reply_loss
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch

MOST_OUTPUTS = 4_000
QUADRATURE = 12
"""Gauss-Legendre points for each unit of the Laplace mechanism's output."""


def baselines(base: Ground, watch: Watch = SILENT, oblivious: bool = True) -> dict[str, Baseline]:
    """Every baseline by its name."""
    ways: dict[str, Callable[[Ground], float]] = {
        "geometric": _geometric,
        "truncated geometric": _face_value,
        "laplace": _laplace,
        "staircase": _staircase,
        "inverse sensitivity": _inverse_sensitivity,
        "noisy histogram": _noisy_histogram,
        "no information": _nothing,
        "full information": _everything,
    }
    if oblivious:
        ways["best oblivious"] = lambda ground: best_oblivious(ground, 1e-5, watch).loss
    found = {}
    for name, way in ways.items():
        try:
            loss = way(base)
            if watch.cancelled():
                raise InputError("The time was up before this baseline was solved")
            found[name] = Baseline(name, -loss, _WORDS[name])
        except DiscreetError as error:
            found[name] = Baseline(name, None, f"{_WORDS[name]}; not computed: {error}")
        watch.report(stage=f"baseline {name}", value=found[name].loss)
    return found


def ladder_baselines(problem: Problem) -> dict[str, Baseline]:
    """The baselines that need no list of states: for problems that the ladder serves."""
    universe, decision = problem.universe, problem.decision
    weights = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    probabilities = getattr(problem.prior, "probabilities", None)
    if (
        weights is None
        or probabilities is None
        or decision.kind != "squared-error"
        or not isinstance(universe, Universe)
    ):
        return {}
    p, v = [float(x) for x in probabilities], [float(w) for w in weights]
    scale = float(decision.weight)
    mean = sum(x * y for x, y in zip(p, v, strict=True))
    variance = universe.respondents * sum(x * (y - mean) ** 2 for x, y in zip(p, v, strict=True))
    noisy = geometric_baseline(p, v, universe.respondents, float(problem.epsilon)).loss
    return {
        "geometric": Baseline("geometric", -scale * noisy, _WORDS["geometric"]),
        "no information": Baseline("no information", -scale * variance, _WORDS["no information"]),
        "full information": Baseline("full information", 0.0, _WORDS["full information"]),
    }


_WORDS = {
    "geometric": "geometric noise on the statistic, then the best reply",
    "truncated geometric": "geometric noise clipped to the range, taken at face value",
    "laplace": "Laplace noise on the statistic, then the best reply",
    "staircase": "staircase noise on the statistic, then the best reply",
    "inverse sensitivity": "inverse sensitivity mechanism, then the best reply",
    "noisy histogram": "geometric noise on every count of types, then the best reply",
    "best oblivious": "the best mechanism that reads only the statistic",
    "no information": "the best action without any publication",
    "full information": "the best action when the truth is known",
}


def answered(problem: Problem, joint: np.ndarray, omegas: tuple[Fraction, ...]) -> float:
    """Expected loss when every decision maker replies best; `joint` is [output, ω]."""
    return sum(float(d.weight) * best_replies(d, joint, omegas).loss for d in problem.decisions)


def _lattice(base: Ground) -> tuple[LinearSummary, np.ndarray]:
    """The statistic as whole numbers, and the place of each of its values counted from the lowest."""
    summary = lattice_summary(base)
    section = summed(base, summary)
    places = np.zeros(len(base.exact_omegas), dtype=np.int64)
    places[base.column] = section.space.vectors[section.image, 0]
    return summary, places - int(places.min())


def _step(base: Ground, summary: LinearSummary) -> int:
    """How far one neighbour moves the statistic; one for a constant statistic, which nobody can move."""
    return max(1, summary.step(base.problem.neighbours))


def _noised(base: Ground, noise: Callable[[int], np.ndarray]) -> float:
    """Loss with noise of the given pmf on the lattice, `noise(reach)` over −reach..reach; tails merge at the ends."""
    _, places = _lattice(base)
    width = int(places.max()) + 1
    if width > MOST_OUTPUTS:
        raise _too_wide(width)
    return answered(base.problem, _clipped(noise(width), places) * _masses(base), base.exact_omegas)


def _too_wide(width: int) -> TooLarge:
    return TooLarge(
        "The statistic has too many values for this baseline",
        size=f"{width:,}",
        fits=f"{MOST_OUTPUTS:,}",
        remedy="the geometric baseline of the ladder covers it",
    )


def _clipped(pmf: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The kernel [output, ω] of adding noise with the given pmf over −width..width and clipping to 0..width−1."""
    width = len(pmf) // 2
    kernel = pmf[np.arange(width)[:, None] - places[None, :] + width]
    beyond = (1 - pmf.sum()) / 2
    if width > 1:
        kernel[0] = [pmf[: width - p + 1].sum() + beyond for p in places]
        kernel[-1] = [pmf[2 * width - 1 - p :].sum() + beyond for p in places]
    return kernel


def _masses(base: Ground) -> np.ndarray:
    return np.bincount(base.column, base.masses, len(base.exact_omegas))


def _geometric_pmf(base: Ground) -> Callable[[int], np.ndarray]:
    summary, _ = _lattice(base)
    ratio = exp(-float(base.problem.epsilon) / _step(base, summary))
    centre = (1 - ratio) / (1 + ratio) if ratio < 1 else 0.0
    return lambda reach: centre * ratio ** np.abs(np.arange(-reach, reach + 1)).astype(float)


def _geometric(base: Ground) -> float:
    return _noised(base, _geometric_pmf(base))


def _face_value(base: Ground) -> float:
    """The clipped noisy number is taken as the action (or the listed action nearest to it)."""
    problem = base.problem
    decision = problem.decision
    if not decision.is_loss:
        raise _inapplicable("a number is taken at face value only for losses")
    _, places = _lattice(base)
    width = int(places.max()) + 1
    kernel = _clipped(_geometric_pmf(base)(width), places)
    low, high = base.exact_omegas[0], base.exact_omegas[-1]
    assert not isinstance(decision.actions, NamedActions), "losses compare numbers"
    shown = [decision.actions.nearest(low + (high - low) * Fraction(k, max(width - 1, 1))) for k in range(width)]
    return float(decision.weight) * float(
        reply_loss(decision, kernel * _masses(base), base.exact_omegas, shown).sum()
    )


def _staircase(base: Ground) -> float:
    """Beyond the range an output and the one a whole step further out have the same posterior: each stands for all of them."""
    if base.problem.epsilon == 0:
        return _nothing(base)
    summary, places = _lattice(base)
    step, width = _step(base, summary), int(places.max()) + 1
    if width > MOST_OUTPUTS:
        raise _too_wide(width)
    ratio = exp(-float(base.problem.epsilon))
    plateau = best_step_width(base.problem.epsilon, step)
    outputs = np.arange(-step, width + step)
    stairs = (np.abs(outputs[:, None] - places[None, :]) + step - plateau) // step
    unit = (1 - ratio) / ((2 * plateau - 1) * (1 - ratio) + 2 * step * ratio)
    kernel = unit * ratio ** stairs.astype(float)
    kernel[(outputs < 0) | (outputs >= width)] /= 1 - ratio
    return answered(base.problem, kernel * _masses(base), base.exact_omegas)


def _laplace(base: Ground) -> float:
    """ω + Laplace(Δ/ε): posteriors change smoothly between lattice points, so the output is integrated by Gauss-Legendre."""
    summary, places = _lattice(base)
    width = int(places.max()) + 1
    if width * QUADRATURE > 4 * MOST_OUTPUTS:
        raise TooLarge(
            "The statistic has too many values for this baseline",
            size=f"{width:,}",
            fits=f"{4 * MOST_OUTPUTS // QUADRATURE:,}",
            remedy="compare with the geometric baseline",
        )
    rate = float(base.problem.epsilon) / _step(base, summary)
    if rate == 0:
        return _nothing(base)
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE)
    inner = (np.arange(width - 1)[:, None] + (nodes + 1) / 2).ravel()
    measure = np.tile(weights / 2, width - 1)
    kernel = measure[:, None] * rate / 2 * np.exp(-rate * np.abs(inner[:, None] - places[None, :]))
    # every output below the lowest value has the same posterior, and so above the highest: two outputs hold the tails
    ends = np.stack([np.exp(-rate * places) / 2, np.exp(-rate * (width - 1 - places)) / 2])
    return answered(base.problem, np.vstack([kernel, ends]) * _masses(base), base.exact_omegas)


def _inverse_sensitivity(base: Ground) -> float:
    summary, places = _lattice(base)
    step = _step(base, summary)
    far = -(-np.abs(places[:, None] - places[None, :]) // step)
    raw = np.exp(-float(base.problem.epsilon) * far / 2)
    return answered(base.problem, raw / raw.sum(axis=0) * _masses(base), base.exact_omegas)


def _noisy_histogram(base: Ground) -> float:
    """Geometric noise of ratio e^(−ε/2) on each count but the reference's (a replacement moves two counts by one)."""
    problem = base.problem
    universe = problem.universe
    if (
        not isinstance(universe, Universe)
        or not problem.exchangeable
        or isinstance(problem.neighbours, AddRemoveOne)
    ):
        raise _inapplicable("histograms of exchangeable respondents with replace-one neighbours")
    n, noisy = universe.respondents, universe.types - 1
    cells = (n + 1) ** noisy * len(base.exact_omegas)
    if cells > 30_000_000:
        raise TooLarge(
            "There are too many noisy histograms to read",
            size=f"{cells:,} cells",
            fits="30,000,000",
            remedy="fewer types or respondents",
        )
    ratio = exp(-float(problem.epsilon) / 2)
    counts = np.arange(n + 1)
    kernel = ratio ** np.abs(counts[:, None] - counts[None, :]).astype(float)
    kernel *= np.where((counts == 0) | (counts == n), 1 / (1 + ratio), (1 - ratio) / (1 + ratio))[:, None]
    joint = np.zeros((*[n + 1] * noisy, len(base.exact_omegas)))
    np.add.at(joint, (*base.space.vectors[:, 1:].T, base.column), base.masses)
    for axis in range(noisy):
        joint = np.moveaxis(np.tensordot(kernel, joint, axes=(1, axis)), 0, axis)
    return answered(problem, joint.reshape(-1, len(base.exact_omegas)), base.exact_omegas)


def _nothing(base: Ground) -> float:
    return answered(base.problem, _masses(base)[None, :], base.exact_omegas)


def _everything(base: Ground) -> float:
    return answered(base.problem, np.diag(_masses(base)), base.exact_omegas)


def _inapplicable(allowed: str) -> DiscreetError:
    return InputError("This baseline does not fit the problem", allowed=allowed)
