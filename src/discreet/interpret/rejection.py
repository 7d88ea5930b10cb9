"""Exact draws from a posterior by rejection, for models that can only be simulated.

Draw θ from the prior, x from P_θ, keep θ with probability m(t|x)/max_x m(t|x). What is kept is distributed exactly as
p(θ|t), with no burn-in and no tuning. By BG Thm 5 an ε-DP mechanism keeps at least e^(−ε d*) of the proposals,
d* being the largest distance between databases of the model.

Reference: Gong (2022), as used for BG Fig. 3. Implements it; randomness here is for analysis and needs no secrecy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.numerics.arrays import Floats

Draw = Callable[[int, np.random.Generator], Floats]
BATCH = 50_000
MOST_PROPOSALS = 100_000_000


@dataclass(frozen=True, eq=False)
class Draws:
    """Independent draws of θ (and of the data behind them) and how many proposals they took."""

    parameters: Floats
    data: Floats
    proposals: int

    @property
    def acceptance(self) -> float:
        """The share of proposals that were kept."""
        return len(self.parameters) / self.proposals


def rejection_sample(
    draw_parameters: Draw,
    draw_data: Callable[[Floats, np.random.Generator], Floats],
    log_likelihood: Callable[[Floats], Floats],
    log_peak: float,
    draws: int,
    rng: np.random.Generator,
    *,
    most_proposals: int = MOST_PROPOSALS,
) -> Draws:
    """`draws` exact draws of θ given t.

    draw_parameters(k, rng)   k draws of θ from the prior
    draw_data(θ, rng)         one database (or summary of one) for each θ
    log_likelihood(x)         log m(t|x) of the published t for each
    log_peak                  an upper bound of log m(t|·)
    """
    if draws < 1 or not np.isfinite(log_peak):
        raise InputError(
            "Rejection needs a positive number of draws and a finite bound of the log likelihood",
            found=f"{draws} draws, bound {log_peak}",
            allowed="draws from 1, a finite bound",
            remedy="correct them",
        )
    kept: list[Floats] = []
    behind: list[Floats] = []
    proposals = found = 0
    batch = min(BATCH, max(1000, 4 * draws))
    while found < draws:
        if proposals >= most_proposals:
            raise TooLarge(
                "Rejection keeps too few proposals",
                size=f"{draws:,} draws, {found:,} kept of {proposals:,} proposals",
                fits=f"{found:,} draws within {most_proposals:,} proposals",
                remedy="ask for fewer draws, a tighter prior, or use the data-augmentation sampler",
            )
        theta = draw_parameters(batch, rng)
        data = draw_data(theta, rng)
        logs = np.asarray(log_likelihood(data), dtype=np.float64)
        if logs.max(initial=-np.inf) > log_peak + 1e-9:
            raise InputError(
                "The bound of the likelihood is not a bound",
                found=f"{logs.max():g} above {log_peak:g}",
                allowed="log_peak at least every log m(t|x)",
                remedy="use the mechanism's largest probability of t",
            )
        accepted = np.log(rng.random(batch)) < logs - log_peak
        needed = draws - found
        places = np.flatnonzero(accepted)[:needed]
        # Count proposals only up to the last one used, so that the acceptance rate is honest.
        proposals += int(places[-1]) + 1 if len(places) == needed else batch
        kept.append(theta[places])
        behind.append(data[places])
        found += len(places)
    return Draws(np.concatenate(kept), np.concatenate(behind), proposals)
