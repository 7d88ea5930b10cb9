"""Losses under ρ (zCDP) beside OpenDP's discrete Gaussian, and pure designs at the same ρ.

    python bench/zcdp.py [RESPONDENTS]

School planning (SY Example 1 has forty households; twelve by default here), squared error, real actions. For each ρ: what the
design under ρ loses and the proved lower bound; discrete Gaussian noise on the sum, drawn by OpenDP, taken at face value and with
the best reply; and the best purely ε-private mechanism whose ε implies the same ρ, ε·tanh(ε/2) = ρ. Ratios are against the
design. Draws of both are also timed, CPU seconds of one run.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction

import numpy as np

from discreet.design import design
from discreet.design.concentrated.equal_promises import pure_level
from discreet.files.problem import problem_from_document
from discreet.model.problem import Problem
from discreet.sampling import DiscreteGaussianSampler

RHOS = ("1/20", "0.4621171572600098", "2")
DRAWS = 200_000
PRIOR = (0.89, 0.09, 0.02)


def asked(respondents: int, privacy: dict[str, str]) -> Problem:
    """The problem under one promise."""
    return problem_from_document({
        "data": {"respondents": respondents, "values": [0, 1, 2]},
        "prior": {"kind": "iid", "probabilities": [str(p) for p in PRIOR]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real"},
        "privacy": privacy | {"unit": "household"},
    })  # fmt: skip


def by_opendp(respondents: int, rho: Fraction) -> tuple[float, float]:
    """The mean squared error of OpenDP's noise on sums that follow the prior, and CPU seconds of the draws."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    sigma = 2 / (2 * float(rho)) ** 0.5
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    measurement = dp.m.make_gaussian(*space, scale=sigma)
    truth = np.random.default_rng(1).multinomial(respondents, PRIOR, DRAWS) @ np.arange(3)
    started = time.process_time()
    published = np.array(measurement(truth.tolist()))
    took = time.process_time() - started
    return float(np.square(published.clip(0, 2 * respondents) - truth).mean()), took


def main() -> None:
    """Print a row for each ρ."""
    respondents = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    print(f"{respondents} households; losses, and in brackets against the design under ρ")
    print(f"{'ρ':>8} {'design':>9} {'at least':>9} {'OpenDP':>16} {'best reply':>16} {'pure ε':>18}  draws per CPU second")
    for text in RHOS:
        rho = Fraction(text)
        found = design(asked(respondents, {"rho": text}))
        own, reply = float(found.loss), found.baselines["discrete gaussian"].loss or float("nan")
        pure = float(design(asked(respondents, {"epsilon": str(pure_level(rho))}), compare=False).loss)
        face, took = by_opendp(respondents, rho)
        started = time.process_time()
        DiscreteGaussianSampler(2 / rho).draw(DRAWS)
        mine = time.process_time() - started
        others = "".join(f"{loss:>10.4f} ({loss / own:.2f})" for loss in (face, reply, pure))
        print(
            f"{float(rho):>8.4f} {own:>9.4f} {float(found.lower_bound):>9.4f} {others}   {DRAWS / mine:,.0f}, "
            f"{took / mine:.1f} times OpenDP", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
