"""Proposing chain bounds: which sets of types leave most hidden. What they prove is proved by `certify` (`chain`, `other_chains`).

Sets are tails of the values: `low` the types up to a value, `high` those from a value on. (Other sets are allowed, but tails won
wherever it was tried.) Independent respondents have many pairs of tails; they are screened by a three-point rule over the number of
players, and only the most promising are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import exp, floor, pi, sqrt

import numpy as np

from discreet.certify.bounds.chain import (
    CHAIN,
    QUADRATIC_WORK,
    Split,
    binomial_below,
    chain_loss,
    hidden_variances,
    pinball_loss,
    split_of,
    why_not_chain,
)
from discreet.certify.bounds.full_information import FULL, full_information
from discreet.certify.bounds.other_chains import (
    GROWING,
    any_chain_bound,
    concentration,
    growing_chain,
    growing_chain_bound,
    overdispersed_chain,
    why_not_growing_chain,
    why_not_overdispersed_chain,
)
from discreet.certify.value.laws import law_of
from discreet.design.schedule import SECONDS_PER_PATH_PAIR, SECONDS_PER_PATH_STATE, SECONDS_PER_SCREENED, spend, time_left
from discreet.errors import Refuted
from discreet.model.actions import RealActions
from discreet.model.certificate import TheoremWitness, Witness
from discreet.model.losses import DistanceLoss
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch

MOST_CUTS = 12
"""Cuts between levels of values that are tried as ends of tails."""
MOST_PROMISING = 3
"""Pairs of tails evaluated, best first by the quick estimate."""

Types = tuple[int, ...]


def best_chain(problem: Problem, likely: Sequence[int], watch: Watch = SILENT) -> tuple[float, Witness]:
    """The largest lower bound on the loss that some chain proves, with its witness; without any chain, that of full information.

    `likely` are the types that may occur.
    """
    found = (_of_several if len(problem.decisions) > 1 else _of_one)(problem, likely, watch)
    if found is not None and found[0] >= 0 and len(problem.decisions) == 1 and problem.decision.actions == RealActions():
        return found  # who knows the truth loses nothing
    plain = float(-full_information(problem)), TheoremWitness(FULL)
    return plain if found is None or found[0] < plain[0] else found


def _of_one(problem: Problem, likely: Sequence[int], watch: Watch) -> tuple[float, Witness] | None:
    """The best chain of whatever kind the problem has; None where it has none."""
    if why_not_chain(problem) is None:
        return _split(problem, likely, watch)
    if why_not_overdispersed_chain(problem) is None:
        pairs, paths = _promising(problem, pairs_of_tails(problem, likely), len(likely)), _paths(problem)
        guess = lambda pair: 0.0 if len(pair[0]) + len(pair[1]) == len(likely) else paths  # noqa: E731
        return _best(pairs, lambda pair: -overdispersed_chain(problem, *pair), guess, ("low", "high"), CHAIN, watch)
    if why_not_growing_chain(problem) is None:
        sets, paths = [(high,) for high in _one_sided(problem, likely)], _paths(problem)
        return _best(sets, lambda only: -growing_chain(problem, *only), lambda _: paths, ("high",), GROWING, watch)
    return None


def _of_several(problem: Problem, likely: Sequence[int], watch: Watch) -> tuple[float, Witness] | None:
    """The best for all decision makers together among the chains that are best for one of them."""
    best: tuple[float, Witness] | None = None
    for decision in problem.decisions:
        alone = _of_one(replace(problem, decisions=(decision,)), likely, watch)
        if alone is None or not isinstance(witness := alone[1], TheoremWitness):
            continue
        loss = float(-(growing_chain_bound if witness.theorem == GROWING else any_chain_bound)(problem, witness))
        if best is None or loss > best[0]:
            best = loss, witness
        if watch.cancelled():
            break
    return best


def chain_witness(problem: Problem, watch: Watch = SILENT) -> Witness:
    """The witness of the best chain found in the time, or of full information where the problem has none."""
    if not isinstance(problem.universe, Universe) or problem.statistic.weights(problem.universe) is None:
        return TheoremWitness(FULL)
    law = law_of(problem)
    assert law is not None
    likely = [t for t in range(problem.universe.types) if law.mean(t)]
    return best_chain(problem, likely, watch)[1] if len(likely) > 1 else TheoremWitness(FULL)


def _best(
    sets: Sequence[tuple[Types, ...]],
    loss: Callable[[tuple[Types, ...]], Fraction],
    guess: Callable[[tuple[Types, ...]], float],
    names: Sequence[str],
    theorem: str,
    watch: Watch,
) -> tuple[float, Witness] | None:
    """The best of all sets, one after the other while there is time for what each is guessed to take."""
    best: tuple[float, Witness] | None = None
    for chosen in sets:
        if best is not None and (watch.cancelled() or guess(chosen) > time_left(watch)):
            break
        spend(guess(chosen))
        try:
            found = float(loss(chosen))
        except Refuted:
            continue
        if best is None or found > best[0]:
            named = tuple((name, ",".join(map(str, part))) for name, part in zip(names, chosen, strict=True))
            best = found, TheoremWitness(theorem, named)
    return best


def _paths(problem: Problem) -> float:
    """A guess of the seconds that one chain takes when every number of players is a path of its own."""
    loss, n = problem.decision.loss, problem.people.largest
    if isinstance(loss, DistanceLoss) and loss.quantile is not None:
        return SECONDS_PER_PATH_PAIR * min(QUADRATIC_WORK, n**3 / 3)
    return SECONDS_PER_PATH_STATE * n**2 / 2


def pairs_of_tails(problem: Problem, likely: Sequence[int]) -> list[tuple[Types, ...]]:
    """Disjoint tails, types up to a value and types from a value on: those that hold every type first (all play, which is quick to
    prove), then those of the extreme values."""
    values = problem.statistic.weights(problem.people)
    assert values is not None
    ordered = sorted(likely, key=values.__getitem__)
    places = _few(problem, [k for k in range(1, len(ordered)) if values[ordered[k - 1]] < values[ordered[k]]], ordered)
    tails = [(tuple(sorted(ordered[:k])), tuple(sorted(ordered[k:]))) for k in places]
    pairs = [(low, high) for i, (low, _) in enumerate(tails) for _, high in tails[i:]]
    return sorted(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]) < len(likely), (len(pair[0]) > 1) + (len(pair[1]) > 1)))


def _few(problem: Problem, cuts: list[int], ordered: Sequence[int]) -> list[int]:
    """Cuts between levels of the values (so many types lie below): all, or of many those evenly apart and those evenly likely."""
    if len(cuts) <= MOST_CUTS:
        return cuts
    law = law_of(problem)
    assert law is not None
    running = np.cumsum([float(law.mean(t)) for t in ordered])[np.array(cuts) - 1]
    even = np.linspace(0, len(cuts) - 1, MOST_CUTS // 2).astype(int)
    likely = np.searchsorted(running, np.linspace(0, running[-1], MOST_CUTS // 2))
    return [cuts[k] for k in sorted({*even.tolist(), *np.minimum(likely, len(cuts) - 1).tolist()})]


def _promising(problem: Problem, pairs: list[tuple[Types, ...]], likely: int) -> list[tuple[Types, ...]]:
    """Pairs under a Dirichlet in the order of a rough guess of their bounds; first one that holds every type, quick to prove.

    Of a path the guess sees the variance of X for the mean number of players, as if X, where it is not all or nothing, and the
    noise were normal.
    """
    n = problem.people.respondents
    sizes, values = [float(c) for c in concentration(problem)], [float(v) for v in problem.statistic.weights(problem.people) or ()]
    ratio = exp(-min(float(problem.epsilon), 300.0))
    noise, whole = 2 * ratio / (1 - ratio) ** 2 if ratio < 1 else float("inf"), sum(sizes)

    def guess(pair: tuple[Types, ...]) -> float:
        (x, low, below), (z, high, above) = (_weighed(part, sizes, values) for part in pair)
        players = n * (x + z) / whole
        spread = players * x * z / (x + z) ** 2 * (players + x + z) / (x + z + 1)
        # rare types come in bursts: most cells have none of them, and hide nothing
        some = (1 - (1 + players / x) ** -z) * (1 - (1 + players / z) ** -x)
        hidden = spread if noise == float("inf") else some * spread * noise / (spread + some * noise) if spread else 0.0
        shared = below / (x + 1) + above / (z + 1)
        return ((high - low) ** 2 + shared) * hidden + (below + above - shared) * sqrt(hidden / pi)

    ranked = sorted(pairs, key=guess, reverse=True)
    quick = next((pair for pair in ranked if len(pair[0]) + len(pair[1]) == likely), ranked[0])
    return [quick, *(pair for pair in ranked if pair != quick)]


def _weighed(part: Types, sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float, float]:
    """The total size of a set of types, and mean and variance of its values."""
    total = sum(sizes[t] for t in part)
    mean = sum(sizes[t] * values[t] for t in part) / total
    return total, mean, sum(sizes[t] * (values[t] - mean) ** 2 for t in part) / total


def _one_sided(problem: Problem, likely: Sequence[int]) -> list[Types]:
    """Tails whose values have one sign."""
    universe = problem.people
    values = problem.statistic.weights(universe)
    assert values is not None
    levels = sorted({values[t] for t in likely if values[t]}, key=abs, reverse=True)
    signs = [(v, tuple(t for t in likely if v * values[t] > 0 and abs(values[t]) >= abs(v))) for v in levels]
    return [kinds for _, kinds in signs]


def _split(problem: Problem, likely: Sequence[int], watch: Watch) -> tuple[float, Witness] | None:
    """The best pair of tails of independent respondents."""
    decision, loss, n = problem.decision, problem.decision.distance, problem.people.respondents
    quantile, scale = loss.quantile, float(decision.weight) * loss.pinballs
    screened: list[tuple[float, tuple[Types, ...], Split]] = []
    pairs = pairs_of_tails(problem, likely)
    for pair in pairs:
        split = split_of(problem, *pair)
        guess = _screened(split, n, float(problem.epsilon), quantile) if len(pairs) > 1 else 0.0
        screened.append((guess, pair, split))
        spend(SECONDS_PER_SCREENED)
        if watch.cancelled():
            break
    ranked = sorted(screened, key=lambda found: -found[0])
    best: tuple[float, Witness] | None = None
    for _, pair, split in ranked[:MOST_PROMISING]:
        if best is not None and watch.cancelled():
            break
        bound = scale * float(chain_loss(split, n, problem.epsilon, quantile))
        if best is None or bound > best[0]:
            named = tuple((name, ",".join(map(str, sorted(part)))) for name, part in zip(("low", "high"), pair, strict=True))
            best = bound, TheoremWitness(CHAIN, named)
    return best


def _screened(split: Split, respondents: int, epsilon: float, quantile: Fraction | None) -> float:
    """A quick estimate of the bound: three-point Gauss-Hermite rule over the number of players."""
    share, ratio = float(split.share), float(np.exp(-epsilon))
    middle, reach = respondents * share, sqrt(3 * respondents * share * max(0.0, 1 - share))
    points = [(middle, 2 / 3), (middle - reach, 1 / 6), (middle + reach, 1 / 6)] if reach > 0.5 else [(middle, 1.0)]
    total = 0.0
    for at, weight in points:
        below = max(0, floor(at))
        for players, part in ((below, 1 - (at - below)), (below + 1, at - below)):
            if part > 1e-9 and 0 < players <= respondents:
                masses = binomial_below(players, split.beta)[1]
                if quantile is not None:
                    hidden = float(split.mean) * pinball_loss(masses, ratio, quantile)
                else:
                    count, indicators = hidden_variances(masses[:, None], ratio)
                    hidden = float(split.mean) ** 2 * float(count[0]) + float(split.variance) * float(indicators[0])
                total += weight * part * hidden
    return total
