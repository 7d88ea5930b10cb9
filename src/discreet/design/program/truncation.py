"""Which counts matter: the clamp that a program can afford, chosen by what each count weighs.

Clamping to a box of histograms keeps a mechanism private (model.summary) and costs at most the regret of the states that it moves.
`regret_marginals` weighs each type's counts by prior times regret, and `choose_clamp` takes the lightest counts off the ends.
"""

from __future__ import annotations

import numpy as np

from discreet.model.summary import Clamp


def regret_marginals(histograms: np.ndarray, prior: np.ndarray, loss: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Weight [type, count]: prior times the regret of the best blind action, at each count of each type.

    `histograms` is [state, type], `prior` [state], `loss` [action, value] and `column` the value of each state. Where the blind
    action happens to be best its regret is zero, but a clamped state is not played blindly: the expected regret is added to all.
    """
    blind = int(np.argmin(loss @ np.bincount(column, prior, loss.shape[1])))
    regret = prior * (loss[blind] - loss.min(axis=0))[column]
    weight = regret + prior * float(regret.sum())
    size = int(histograms.sum(axis=1).max())
    return np.stack([np.bincount(column, weight, size + 1) for column in histograms.T])


def choose_clamp(marginals: np.ndarray, tolerance: float, reference: int | None = None) -> Clamp:
    """The clamp that loses at most `tolerance` of weight, by taking the lightest count off any end in turn.

    `marginals[j, n]` is the weight of type j's count being n; the union bound over clipped ends is what is spent. The reference
    is the type with the largest mean count unless given; its own ends bound the rest.
    """
    types, size = marginals.shape[0], marginals.shape[1] - 1
    if reference is None:
        reference = int(np.argmax(marginals @ np.arange(size + 1)))
    crumb = tolerance / (200.0 * types)
    # ends so light that no choice between them matters go at once; the loop then has little to do
    lower = [min(int(np.searchsorted(np.cumsum(row), crumb)), size) for row in marginals]
    upper = [max(size - int(np.searchsorted(np.cumsum(row[::-1]), crumb)), low) for row, low in zip(marginals, lower, strict=True)]
    allowance = tolerance - 2 * crumb * types
    while True:
        loose = [j for j in range(types) if lower[j] < upper[j]]
        ends = [(float(marginals[j, lower[j]]), j, 1) for j in loose]
        ends += [(float(marginals[j, upper[j]]), j, -1) for j in loose]
        ends = [end for end in ends if end[0] <= allowance]
        if not ends:
            break
        weight, j, side = min(ends)
        allowance -= weight
        if side > 0:
            lower[j] += 1
        else:
            upper[j] -= 1
    clamp = Clamp(tuple(lower), tuple(upper), reference, (lower[reference], upper[reference]))
    return clamp if clamp.fits(size) else Clamp((0,) * types, tuple(upper), reference)


def choose_caps(marginals: np.ndarray, tolerance: float, smallest: int = 0) -> Clamp:
    """The same where respondents are added and removed: counts are only clipped from above, each by itself.

    No cap lies below the `smallest` number of respondents: a capped count is then a histogram that some database has.
    """
    caps = [marginals.shape[1] - 1] * len(marginals)
    while loose := [j for j, cap in enumerate(caps) if cap > smallest]:
        weight, j = min((float(marginals[j, caps[j]]), j) for j in loose)
        if weight > tolerance:
            break
        tolerance -= weight
        caps[j] -= 1
    return Clamp((0,) * len(caps), tuple(caps), reference=None)


def clips_nothing(clamp: Clamp, size: int) -> bool:
    """Whether every histogram of `size` respondents, or of at most so many without a reference, is its own image."""
    return clamp.room(size) == (0, size) and all(clamp.lower[j] == 0 and clamp.upper[j] >= size for j in clamp.clipped)
