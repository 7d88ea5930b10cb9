"""A data-augmentation sampler: alternate between the type probabilities θ and the confidential histograms.

θ ~ Dirichlet(c); the respondents of each cell have types drawn from θ; each cell published s_c. One sweep is
  1. for each cell, N times: pick a respondent, propose a new type from θ, accept with probability min(1,
     m(s|h′)/m(s|h)),
  2. draw θ from Dirichlet(c + Σ_cells h).
The proposal is the model's own conditional law, so only the kernel's ratio remains, and by ε-DP each proposal
is accepted with probability at least e^−ε. The chain's law is exactly p(θ, h | s). All chains and cells move at once.

Reference: Ju, Awan, Gong & Rao (2022), "Data augmentation MCMC for Bayesian inference from privatized data".
Specialises it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError
from discreet.interpret.channel import Outputs, places_at, positions_of
from discreet.interpret.diagnostics import Diagnosis, diagnose
from discreet.model.mechanism import Mechanism
from discreet.model.universe import Universe
from discreet.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws of θ [chain, draw, type], the share of accepted proposals, and a diagnosis of each type's chain."""

    draws: Floats
    acceptance: float
    diagnoses: tuple[Diagnosis, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong with the chains, in words; empty when nothing is."""
        return tuple(dict.fromkeys(w for d in self.diagnoses for w in d.warnings))

    def mean(self) -> Floats:
        """The posterior mean of θ."""
        return np.asarray(self.draws.mean(axis=(0, 1)))

    def interval(self, level: float = 0.9, kind: int = 1) -> tuple[float, float]:
        """The equal-tailed credible interval of one type's probability."""
        low, high = np.quantile(self.draws[:, :, kind], [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def augmentation_sample(
    mechanism: Mechanism,
    outputs: Outputs,
    concentration: Sequence[float],
    rng: np.random.Generator,
    *,
    chains: int = 4,
    draws: int = 1000,
    burn_in: int = 200,
    thin: int = 1,
) -> Chains:
    """Draws of the type probabilities given the published values of cells of one size."""
    universe = mechanism.problem.universe
    if not isinstance(universe, Universe) or not universe.fixed or mechanism.summary.ordered:
        raise InputError(
            "The sampler needs cells of a fixed number of respondents and a mechanism that ignores their order",
            found=f"summary {mechanism.summary.kind!r}",
            allowed="'histogram' or 'linear', replace-one neighbours",
            remedy="use rejection sampling",
        )
    prior = np.asarray(concentration, dtype=np.float64)
    if prior.shape != (universe.types,) or not bool((prior > 0).all()) or chains < 1 or draws < 8 or thin < 1:
        raise InputError(
            "The sampler needs a positive concentration for each type, a chain and eight draws",
            found=f"{prior.tolist()}, {chains} chains of {draws} draws",
            allowed=f"{universe.types} numbers above 0",
            remedy="correct them",
        )
    places = positions_of(mechanism, outputs)
    cells, n = len(places), universe.respondents
    published = np.tile(places, chains)
    theta = rng.dirichlet(prior, size=chains)
    kernel = _Kernel(mechanism, published)
    counts = _start(kernel, np.repeat(theta, cells, axis=0), n, rng)
    logs = kernel(counts)
    kept = np.empty((chains, draws, universe.types))
    accepted = proposed = 0
    rows = np.arange(len(published))
    for sweep in range(burn_in + draws * thin):
        cumulative = np.cumsum(np.repeat(theta, cells, axis=0), axis=1)
        for _ in range(n):
            leaving = _pick(np.cumsum(counts, axis=1) / n, rng)
            entering = _pick(cumulative, rng)
            moved = counts.copy()
            moved[rows, leaving] -= 1
            moved[rows, entering] += 1
            logs_moved = kernel(moved)
            yes = np.log(rng.random(len(rows))) < logs_moved - logs
            counts[yes] = moved[yes]
            logs[yes] = logs_moved[yes]
            accepted += int(yes.sum())
            proposed += len(rows)
        pooled = counts.reshape(chains, cells, universe.types).sum(axis=1)
        gammas = rng.standard_gamma(prior + pooled)
        theta = gammas / gammas.sum(axis=1, keepdims=True)
        if sweep >= burn_in and (sweep - burn_in) % thin == 0:
            kept[:, (sweep - burn_in) // thin] = theta
    diagnoses = tuple(diagnose(kept[:, :, t]) for t in range(universe.types))
    return Chains(kept, accepted / max(proposed, 1), diagnoses)


def _start(kernel: _Kernel, theta: Floats, n: int, rng: np.random.Generator) -> np.ndarray:
    """Histograms drawn from the model, drawn again until each can have produced what was published."""
    counts = np.asarray(rng.multinomial(n, theta))
    for _ in range(1000):
        stuck = ~np.isfinite(kernel(counts))
        if not stuck.any():
            return counts
        fresh = rng.dirichlet(np.ones(theta.shape[1]), size=int(stuck.sum()))
        counts[stuck] = rng.multinomial(n, fresh)
    raise InputError(
        "No database was found that can have produced these values",
        found="likelihood 0",
        allowed="a likelier value",
        remedy="check the values, or use the exact posterior",
    )


def _pick(cumulative: Floats, rng: np.random.Generator) -> np.ndarray:
    """One type for each row of cumulative probabilities."""
    u = rng.random((len(cumulative), 1)) * cumulative[:, -1:]
    return np.minimum((u >= cumulative).sum(axis=1), cumulative.shape[1] - 1)


class _Kernel:
    """log m(s|h) for the published value of each row, from a table of the values that were published."""

    def __init__(self, mechanism: Mechanism, published: np.ndarray) -> None:
        self.mechanism = mechanism
        kernel = mechanism.kernel
        self.first = kernel.first_place
        distinct, self.rows = np.unique(published, return_inverse=True)
        self.table = kernel.logs_at(distinct, self.first + np.arange(kernel.state_count))

    def __call__(self, counts: np.ndarray) -> Floats:
        return np.asarray(self.table[self.rows, places_at(self.mechanism, counts, "histogram") - self.first])
