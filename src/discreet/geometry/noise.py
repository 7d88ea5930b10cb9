"""Is adding noise optimal? Whether mechanisms that read only the statistic lose nothing, for any decision about it.

They lose nothing exactly when K_Ω = PK (SY Lemma 8), and K_Ω = PK exactly when, for every two values ω, ω′ that
neighbouring databases can have, the conditional priors π0(·|ω) and π0(·|ω′) can be coupled along neighbouring
databases. (*Ours*, for every ε > 0: if a coupling exists, averaging a private mechanism over each value keeps every
ratio. If none does, Hall's theorem gives a set A of databases with ω whose neighbours with ω′ are less likely, and
k = max(2 − d(·,A), 1 − d(·,{ω})) is a private labelling under which the odds of ω against ω′ move beyond ε.)

Under ρ (zCDP) the coupling is still enough: Σ p^α q^(1−α) is jointly convex, so averaging over coupled neighbours keeps D_α ≤ ρα.
Whether it is necessary there is not known.

Theorems answer first, after their conditions are checked; they need no listing, so N may be huge. What no theorem
covers is decided by transport, exactly. The errata of Theorem 1 are heeded: N ≥ 2 and equally spaced values.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from discreet.errors import InputError, TooLarge
from discreet.geometry.of_problem import StatedProblem, stated
from discreet.geometry.transport import transport
from discreet.geometry.witness import Witness, magnitude_sum, magnitude_witness
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior, IndependentPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, PurePromise
from discreet.model.statistic import CountStatistic, MeanStatistic, SumStatistic, on_histograms
from discreet.model.universe import Universe

MOST_DATABASES_FOR_THEOREM_1 = 7_000
MOST_FOR_TRANSPORT = 50_000
MOST_TO_IDENTIFY = 500_000


@dataclass(frozen=True, eq=False)
class NoiseAnswer:
    """Yes or no, the theorem that says so with its checked conditions, and a witness where the answer is no.

    Not `decided`: neither is known, as under ρ where no coupling exists.
    """

    optimal: bool
    theorem: str
    conditions: tuple[str, ...]
    witness: Witness | None = None
    decided: bool = True


def is_noise_optimal(problem: Problem) -> NoiseAnswer:
    """Whether some private mechanism that reads only the statistic is best, whatever the decision about it."""
    if problem.zeros:
        raise InputError(
            "The prior rules something out, and the theory of adding noise assumes that it does not",
            found=", ".join(problem.zeros[:3]),
            allowed="a prior with full support",
            remedy="give everything a small probability, or leave impossible types out",
        )
    if isinstance(problem.promise, ConcentratedPromise):
        return _under_rho(problem)
    answer = by_theorem(problem)
    if answer is not None:
        return answer
    listed = _listed(problem)
    return by_components(listed) if problem.epsilon == 0 else by_transport(listed)


def _under_rho(problem: Problem) -> NoiseAnswer:
    """The coupling does not depend on the level: where it exists, noise loses nothing under ρ either."""
    pure = is_noise_optimal(problem.with_promise(PurePromise(Fraction(1))))
    if pure.optimal:
        return NoiseAnswer(
            True, "averaging over coupled neighbours", (*pure.conditions, f"coupled, as for pure ε ({pure.theorem})")
        )
    reason = "which decides under pure ε, and is not known to under ρ"
    return NoiseAnswer(False, "no coupling along neighbours exists", (reason,), decided=False)


def by_theorem(problem: Problem) -> NoiseAnswer | None:
    """The answer of a theorem whose conditions hold, or None."""
    universe = problem.universe
    if problem.epsilon == 0:
        if problem.neighbours.components(universe) > 1:
            return None
        return NoiseAnswer(True, "SY Lemma 5 at ε = 0", ("ε = 0: connected databases must all be treated alike",))
    if not isinstance(universe, Universe) or not isinstance(problem.neighbours, ReplaceOne):
        return None
    linear = isinstance(problem.statistic, (SumStatistic, MeanStatistic, CountStatistic))
    weights = problem.statistic.weights(universe) if linear else None
    n, types = universe.respondents, universe.types
    if weights is not None and types == 2 and weights[0] != weights[1]:
        base = ("two types (categorical data)", f"the {problem.statistic.kind} tells the types apart")
        if problem.exchangeable:
            return NoiseAnswer(True, "SY Theorem 2", (*base, "respondents are exchangeable"))
        if n == 2:
            return NoiseAnswer(True, "SY Proposition 4", (*base, "two respondents"))
    if weights is not None and len(set(weights)) == 2 and _independent(problem):
        return NoiseAnswer(
            True,
            "merging types to two, then Efron's monotonicity",
            (
                "the statistic counts respondents with some of the types",
                "respondents are independent, so averaging over the type given the count keeps privacy",
                "given the count, independent indicators rise with it, so neighbours can be coupled",
            ),
        )
    if magnitude_sum(problem):
        conditions = (f"{types} equally spaced values (magnitude data)", f"{n} respondents", "full support")
        return NoiseAnswer(False, "SY Theorem 1", conditions, _witness_of_theorem_1(problem))
    if problem.exchangeable and _identifies_histogram(problem, universe):
        return NoiseAnswer(
            True,
            "SY Proposition 5 with a statistic that identifies the histogram",
            ("respondents are exchangeable", "no two histograms have the same value of the statistic"),
        )
    return None


def by_transport(listed: StatedProblem) -> NoiseAnswer:
    """The answer by coupling conditional priors along neighbours, or the witness of the first pair that has none."""
    fibres: list[list[int]] = [[] for _ in listed.omegas]
    place = [0] * len(listed.space)
    for i, w in enumerate(listed.fibre_of.tolist()):
        place[i] = len(fibres[w])
        fibres[w].append(i)
    scale = lcm(*(p.denominator for p in listed.prior))
    amounts = [int(p * scale) for p in listed.prior]
    between: dict[tuple[int, int], list[tuple[int, int]]] = {pair: [] for pair in listed.statistic_edges}
    fibre_of = listed.fibre_of.tolist()
    for i, j in listed.edges:
        if fibre_of[i] != fibre_of[j]:
            a, b = (i, j) if fibre_of[i] < fibre_of[j] else (j, i)
            between[fibre_of[a], fibre_of[b]].append((place[a], place[b]))
    for (low, high), pairs in between.items():
        mass_low = sum(amounts[i] for i in fibres[low])
        mass_high = sum(amounts[i] for i in fibres[high])
        found = transport([amounts[i] * mass_high for i in fibres[low]], [amounts[i] * mass_low for i in fibres[high]], pairs)
        if found.flow is None:
            stuck = [fibres[low][i] for i in found.stuck]
            witness = hall_witness(listed, stuck, low, high)
            return NoiseAnswer(
                False,
                "SY Lemma 8, by a set of databases with too few neighbours",
                (
                    f"ω = {witness.raised} against ω′ = {witness.lowered}: a set of {len(stuck):,} "
                    f"{'state' if len(stuck) == 1 else 'states'} is more likely given ω than its neighbours given ω′",
                ),
                witness,
            )
    return NoiseAnswer(
        True,
        "SY Lemma 8, by couplings",
        (f"{len(between):,} adjacent pairs of values: the conditional priors couple along neighbouring states",),
    )


def by_components(listed: StatedProblem) -> NoiseAnswer:
    """ε = 0: a mechanism may tell components of the neighbour graph apart and nothing else.

    Noise on ω can say as much iff no component shifts the odds of two values that neighbours can have.
    """
    shares: dict[tuple[int, int], Fraction] = {}
    component = listed.space.component.tolist()
    for c, w, p in zip(component, listed.fibre_of.tolist(), listed.prior, strict=True):
        shares[c, w] = shares.get((c, w), Fraction(0)) + p
    mass = listed.statistic_prior
    for c in range(max(component) + 1):
        for i, j in listed.statistic_edges:
            if shares.get((c, i), Fraction(0)) * mass[j] != shares.get((c, j), Fraction(0)) * mass[i]:
                return NoiseAnswer(
                    False,
                    "SY Lemma 8 at ε = 0",
                    (f"learning component {c} shifts the odds of ω = {listed.omegas[i]} and ω = {listed.omegas[j]}",),
                )
    return NoiseAnswer(True, "SY Lemma 8 at ε = 0", ("no component shifts the odds of values that neighbours have",))


def hall_witness(listed: StatedProblem, stuck: list[int], raised: int, lowered: int) -> Witness:
    """k = max(2 − d(·, A), 1 − d(·, fibre of ω), 0): the posterior that a set A with too few neighbours yields."""
    from_stuck = _steps(listed, stuck)
    fibre = [i for i, w in enumerate(listed.fibre_of.tolist()) if w == raised]
    from_fibre = _steps(listed, fibre)
    exponents = tuple(max(2 - a, 1 - b, 0) for a, b in zip(from_stuck, from_fibre, strict=True))
    return Witness(listed, exponents, listed.omegas[raised], listed.omegas[lowered])


def _steps(listed: StatedProblem, starts: list[int]) -> list[int]:
    """Steps from the nearest of several states, counted up to two; further states are three away."""
    steps = [3] * len(listed.space)
    queue = deque(starts)
    for start in starts:
        steps[start] = 0
    while queue:
        here = queue.popleft()
        for there in listed.space.around[here]:
            if steps[there] > steps[here] + 1:
                steps[there] = steps[here] + 1
                if steps[there] < 2:
                    queue.append(there)
    return steps


def _witness_of_theorem_1(problem: Problem) -> Witness | None:
    """Theorem 1's posterior where the databases can be listed, Hall's on histograms where those can, else none."""
    universe = problem.people
    if universe.database_count <= MOST_DATABASES_FOR_THEOREM_1:
        return magnitude_witness(stated(problem, "databases"))
    if problem.exchangeable and universe.histogram_count <= MOST_FOR_TRANSPORT:
        return by_transport(stated(problem, "histograms")).witness
    return None


def _identifies_histogram(problem: Problem, universe: Universe) -> bool:
    if universe.histogram_count > MOST_TO_IDENTIFY:
        return False
    found = on_histograms(problem.statistic, universe.histograms(), universe)
    return len(set(found)) == len(found)


def _independent(problem: Problem) -> bool:
    return isinstance(problem.prior, (IidPrior, ReferencePrior, IndependentPrior))


def _listed(problem: Problem) -> StatedProblem:
    universe = problem.universe
    if isinstance(universe, Universe):
        count = universe.histogram_count if problem.exchangeable else universe.database_count
        if count > MOST_FOR_TRANSPORT:
            what = "histograms" if problem.exchangeable else "databases"
            fits = (
                universe.fitting(MOST_FOR_TRANSPORT)
                if problem.exchangeable
                else max(n for n in range(1, 16) if universe.types**n <= MOST_FOR_TRANSPORT or n == 1)
            )
            raise TooLarge(
                f"No theorem covers this problem, and there are too many {what} to decide it state by state",
                size=f"{count:,} {what}" if count < 10**18 else f"more than 10^18 {what}",
                fits=f"{MOST_FOR_TRANSPORT:,} {what}: for instance {fits} respondents of {universe.types} types",
                remedy="ask about fewer respondents: the answer for the same prior on a smaller cell is a good guide",
            )
    return stated(problem)
