"""Several levels read together, viewed: what each level is known to, beside the finest level alone and least squares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.numerics.digits import about, percent_given
from discreet.publish.levels import LevelledCells
from discreet.publish.spreadsheets import csv_text, disarmed
from discreet.views.plain import known
from discreet.views.view import Block, Grid, Sentence, View

MOST_ROWS = 30


def levels_view(found: LevelledCells) -> View:
    """A row for each level, then the cells of the upper levels."""
    facts = {
        "level": found.level,
        "levels": [
            {"keys": list(columns), "cells": int(at.sum()), "total": float(found.mean[at].sum()),
             "standard_deviation": float(np.sqrt((found.standard_deviation[at] ** 2).mean())), "alone": known(_alone(found, depth))}
            for depth, (columns, at) in enumerate((c, found.levels == d) for d, c in enumerate(found.columns))
        ],
        "cells": [_row(found, i) for i in range(len(found))],
    }  # fmt: skip
    return View(facts, tuple(_told(found)))


def _alone(found: LevelledCells, depth: int) -> float:
    """The typical standard deviation of a cell from the finest level alone."""
    at = found.levels == depth
    return float(np.sqrt((found.alone_deviation[at] ** 2).mean()))


def _row(found: LevelledCells, i: int) -> dict[str, Any]:
    columns = found.columns[int(found.levels[i])]
    return {
        "cell": dict(zip(columns, found.keys[i], strict=True)),
        "size": int(found.sizes[i]),
        "mean": float(found.mean[i]),
        "standard_deviation": float(found.standard_deviation[i]),
        "interval": [float(found.lower[i]), float(found.upper[i])],
        "whole": float(found.whole[i]),
        "alone": known(float(found.alone[i])),
        "least_squares": float(found.least_squares[i]),
    }


def _told(found: LevelledCells) -> Iterator[Block]:
    rows = []
    for depth, columns in enumerate(found.columns):
        at = found.levels == depth
        alone = _alone(found, depth)
        spread = about(float(np.sqrt((found.standard_deviation[at] ** 2).mean())), 3)
        rows.append((", ".join(columns), f"{int(at.sum()):,}", spread, "–" if alone != alone else about(alone, 3)))
    yield Grid(("level", "cells", "standard deviation of a cell", "without the other levels"), rows)
    order = np.argsort(-found.levels, kind="stable")[:MOST_ROWS].tolist()
    shown = [
        (
            ", ".join(found.keys[i]), f"{found.sizes[i]:,}", about(found.whole[i], 9), about(found.mean[i], 6),
            f"{about(found.lower[i], 9)} to {about(found.upper[i], 9)}", about(found.least_squares[i], 6),
        )
        for i in order
    ]  # fmt: skip
    yield Grid(("cell", "size", "whole", "mean", f"{percent_given(found.level)} interval", "least squares"), shown)
    if len(found) > MOST_ROWS:
        yield Sentence(f"{MOST_ROWS} of {len(found):,} cells, the coarsest first; -o writes all of them.")
    yield Sentence(
        "Whole numbers and means add up at every level; least squares adds up too, but may be negative and knows no prior."
    )


def levels_table(found: LevelledCells) -> bytes:
    """Every node as CSV: the keys of the finest level (empty above), and what is known of it."""
    finest = found.columns[0]
    columns: dict[str, Sequence[str]] = {"level": [", ".join(found.columns[d]) for d in found.levels.tolist()]}
    for name in finest:
        columns[name] = [
            keys[found.columns[d].index(name)] if name in found.columns[d] else ""
            for keys, d in zip(found.keys, found.levels.tolist(), strict=True)
        ]
    columns["size"] = list(map(str, found.sizes.tolist()))
    for name in ("whole", "mean", "standard_deviation", "lower", "upper", "least_squares"):
        columns[name] = [f"{value:.10g}" for value in getattr(found, name).tolist()]
    return csv_text(list(map(disarmed, columns)), [list(map(disarmed, column)) for column in columns.values()]).encode()


def plans_view(paths: Sequence[Path], plan: Path, together: bool = True) -> View:
    """Where the plans of the levels above are, and what to do next: commit them `together`, or each alone."""
    every = list(map(str, [plan, *paths]))
    lines = [Sentence(f"Written: {path}", whole=True) for path in paths]
    commits = [f"{' '.join(every)} --batch levels"] if together else every
    return View({"plans": list(paths)}, (*lines, *(Sentence(f"Next: discreet commit {words}", whole=True) for words in commits)))
