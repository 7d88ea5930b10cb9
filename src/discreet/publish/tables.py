"""The published table: for each cell its keys and size, the value drawn, and what that value means to a reader.

Every column is a function of the committed public facts and the drawn output, so a release says nothing beyond its draws.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.interpret.reading import readings
from discreet.model.key_set import KeySet
from discreet.model.mechanism import Mechanism
from discreet.model.unbiased import unbiased_values

LEVEL = 0.9


def columns_of(
    key_set: KeySet, mechanisms: Mapping[int, Mechanism], positions: NDArray[np.int64]
) -> dict[str, Any]:
    """The table as columns in the order of the key set."""
    sizes = np.array(key_set.sizes)
    count = len(key_set)
    published = np.empty(count, dtype=object)
    action = np.empty(count, dtype=object)
    mean, low, high, unbiased = (np.full(count, np.nan) for _ in range(4))
    for size, mechanism in mechanisms.items():
        at = np.flatnonzero(sizes == size)
        drawn = positions[at]
        outputs = mechanism.outputs
        published[at] = np.array([output.label for output in outputs], dtype=object)[drawn]
        action[at] = np.array([shown(output.action) for output in outputs], dtype=object)[drawn]
        meaning = _meaning(mechanism)
        if meaning is not None:
            mean[at], low[at], high[at] = (column[drawn] for column in meaning)
        estimator = unbiased_values(mechanism)
        if estimator is not None:
            unbiased[at] = estimator[drawn]
    keys = {name: [cell[i] for cell in key_set.cells] for i, name in enumerate(key_set.columns)}
    table: dict[str, Any] = {**keys, "size": sizes, "published": list(published), "action": list(action)}
    table |= {"posterior_mean": mean, f"interval_low_{LEVEL:g}": low, f"interval_high_{LEVEL:g}": high}
    if np.isfinite(unbiased).any():
        table["unbiased"] = unbiased
    return table


def _meaning(mechanism: Mechanism) -> tuple[NDArray[np.float64], ...] | None:
    """Posterior mean and interval of each output under the designer's prior, where they can be tabulated."""
    try:
        found = readings(mechanism, level=LEVEL)
    except DiscreetError:
        return None
    return found.mean, found.lower, found.upper


def shown(action: Any) -> str:
    """A recommended action as text."""
    if action is None:
        return ""
    if isinstance(action, tuple):
        return "; ".join(shown(a) for a in action)
    return action if isinstance(action, str) else _decimal(action)


def _decimal(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.10g}"


def csv_bytes(columns: Mapping[str, Any]) -> bytes:
    """The table as CSV; text that a spreadsheet would run as a formula is disarmed with a leading apostrophe."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(x) for x in column] for column in columns.values()), strict=True))
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.10g}"
    text = str(value)
    risky = text[:1] in "=+-@\t\r" and not _is_number(text)
    return "'" + text if risky else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
