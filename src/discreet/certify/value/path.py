"""The geometric kernel on a path, valued for any number of respondents: outward-rounded floats on the likely window.

States are counts c = 0..N with prior π(c); output k has probability ∝ r^|k−c| with the tails at the ends 0 and N. Sums run
over counts within a window of the prior and outputs within a band of the count. Every term is non-negative (losses enter as
regret ℓ − min ℓ ≥ 0), so the relative error of a sum of n terms is at most about n·2^−53; `Bracket` carries that error and
the most that what was left out could add.

Notation: masses π, band half-width m, relative error ρ, `lost` the prior mass outside the window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, log1p

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.model.priors import IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.together import ask
from discreet.model.universe import Universe
from discreet.numerics.roundings import drift

FAINT = 1e-34
"""Prior mass and kernel tails below this are bounded instead of summed."""
FAINTEST = Fraction(1, 10**280)
MOST_TERMS = 400_000_000


@dataclass(frozen=True, eq=False)
class Path:
    """Counts in a window with their prior mass (relative error ρ) and the mass outside."""

    respondents: int
    counts: np.ndarray
    masses: np.ndarray
    error: float
    lost: float


def path_of(problem: Problem) -> Path:
    """The law of the count of type 1 of a two-type exchangeable problem."""
    universe = problem.universe
    if not isinstance(universe, Universe) or universe.types != 2 or not universe.fixed:
        raise InputError(
            "A path needs a fixed number of respondents of two types",
            found="another universe",
            allowed="two values",
            remedy="merge the types first",
        )
    n = universe.respondents
    prior = problem.prior
    if isinstance(prior, (IidPrior, ReferencePrior)) and 0 < prior.probabilities[1] < 1:
        return _binomial(n, prior.probabilities[1])
    if n > 20_000:
        raise TooLarge("This prior lists every count", size=f"{n:,} respondents", fits="20,000", remedy="use an iid prior")
    weights = prior.on_histograms(universe.histograms(), universe)
    return Path(n, np.arange(n + 1), weights.floats(), drift(2), 0.0)


def _binomial(n: int, p: Fraction) -> Path:
    """From the mode outwards by π(c+1)/π(c) = (n−c)/(c+1)·p/(1−p), normalised; a geometric series bounds the rest."""
    odds = float(p / (1 - p))
    mode = min(int((n + 1) * p), n)
    upper = _falling(lambda c: (n - c) / (c + 1) * odds, mode, n, 1)
    lower = _falling(lambda c: c / ((n - c + 1) * odds), mode, 0, -1)
    masses = np.array([*lower[:0:-1], 1.0, *upper[1:]])
    counts = np.arange(mode - len(lower) + 1, mode + len(upper))
    error = drift(6 * len(masses))
    total = float(masses.sum())
    complete = counts[0] == 0 and counts[-1] == n
    # beyond the window masses only fall, so each side's rest is below its last mass times the counts left
    return Path(n, counts, masses / total, error, 0.0 if complete else 4 * FAINT * n)


def _falling(ratio: Callable[[int], float], start: int, stop: int, step: int) -> list[float]:
    found, c = [1.0], start
    while c != stop and found[-1] > FAINT:
        found.append(found[-1] * ratio(c))
        c += step
    return found


@dataclass(frozen=True, eq=False)
class Band:
    """Joint mass [output, entry] of outputs k and counts of the window; `at` holds each entry's place in the window.

    Entries that fall outside the window have no mass. `error` is relative; `missed` bounds the mass left out of all bands.
    """

    outputs: np.ndarray
    at: np.ndarray
    joint: np.ndarray
    error: float
    missed: float


def bands(path: Path, ratio: Fraction, low: int, high: int) -> list[Band]:
    """The joint law of output and count for the geometric kernel with ends `low` and `high`, in chunks of outputs.

    The kernel must reach over the window, so that a clip of the count to [low, high] moves only mass that is lost anyway.
    """
    if ratio < FAINTEST:
        ratio = Fraction(0)  # what the noise moves is far less than what is left out
    reach = min(high - low, _reach(ratio))
    window = len(path.counts)
    first, last = max(low, int(path.counts[0]) - reach), min(high, int(path.counts[-1]) + reach)
    terms = (last - first + 1) * min(2 * reach + 1, window)
    if terms > MOST_TERMS:
        raise TooLarge(
            "The posteriors of so many outputs take too long to compute",
            size=f"{terms:,} pairs of output and count",
            fits=f"{MOST_TERMS:,}",
            remedy="use a larger ε or fewer respondents",
        )
    ask(terms, MOST_TERMS)
    chunk = max(1, 2_000_000 // min(2 * reach + 1, window))
    return [
        _band(path, ratio, np.arange(start, min(start + chunk, last + 1)), reach, low, high)
        for start in range(first, last + 1, chunk)
    ]


def _reach(ratio: Fraction) -> int:
    """How far the noise goes until its tail is faint: r^reach ≤ FAINT."""
    if ratio == 0:
        return 1
    fall = log(ratio) if 2 * ratio < 1 else log1p(-float(1 - ratio))  # close to 1 only 1 − r keeps its digits
    return ceil(log(FAINT) / fall) + 1


def _band(path: Path, ratio: Fraction, outputs: np.ndarray, reach: int, low: int, high: int) -> Band:
    window = len(path.counts)
    places = outputs - int(path.counts[0])
    if 2 * reach + 1 < window:
        offsets = np.arange(-reach, reach + 1)
        at = places[:, None] + offsets
        valid = (at >= 0) & (at < window)
        at = np.clip(at, 0, window - 1)
        masses = np.where(valid, path.masses[at], 0.0) * float(ratio) ** np.abs(offsets).astype(float)
    else:
        at = np.broadcast_to(np.arange(window), (len(outputs), window))
        masses = path.masses * float(ratio) ** np.abs(places[:, None] - at).astype(float)
    inner, end = float((1 - ratio) / (1 + ratio)), float(1 / (1 + ratio))
    scale = np.where((outputs == low) | (outputs == high), end, inner)
    error = path.error + drift(6 * reach + 2 * min(window, 2 * reach + 1) + 16)
    return Band(outputs, at, masses * scale[:, None], error, path.lost + 2 * FAINT)
