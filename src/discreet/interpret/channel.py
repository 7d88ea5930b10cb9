"""Log probabilities of a published value at databases: log m(s|x), without ever listing a large kernel.

m(s|x) = kernel(s | summary(x)). A table kernel is looked up; a closed form is evaluated at the totals that
occur, so a million respondents need no table. An output is named by its label, by its position, or for a
closed form by its value.

Notation: s → output, x → database or histogram (a row of `vectors`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, TooLarge
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.universe import ListedUniverse
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import exact

Outputs = Sequence[str | int | Fraction] | NDArray[np.number[Any]]
"""Published values: labels or numbers."""
SHOWN_LABELS = 8
LONGEST_LOOKUP = 1_000_000
MOST_ENTRIES = 50_000_000
"""The most entries [output, atom] of a table of log probabilities."""


def output_count(mechanism: Mechanism) -> int:
    """How many values the mechanism can publish."""
    return mechanism.kernel.width


def output_at(mechanism: Mechanism, position: int) -> Output:
    """The output at a position, without listing the others."""
    return mechanism.kernel.output(position)


def position_of(mechanism: Mechanism, output: str | int | Fraction) -> int:
    """The position of a published value among the outputs; refuses what the mechanism cannot publish.

    A text is a label, or else a number that equals a label or a recommended action; an `int` or `Fraction` is a number.
    """
    kernel = mechanism.kernel
    wanted = output.strip() if isinstance(output, str) else str(output)
    if isinstance(kernel, TableKernel):
        found = kernel.output_index.get(wanted)
        if found is None:
            found = _same_number(kernel.outputs, wanted)
        if found is not None:
            return found
        labels = [o.label for o in kernel.outputs]
    else:
        number = _number(wanted)
        if number is not None and number.denominator == 1 and kernel.low <= number <= kernel.high:
            return int(number) - kernel.low
        labels = [f"whole numbers from {kernel.low} to {kernel.high}"]
    shown = labels[:SHOWN_LABELS] + ([f"… ({len(labels)} outputs)"] if len(labels) > SHOWN_LABELS else [])
    raise InputError(
        "The mechanism cannot publish this value",
        found=wanted or "nothing",
        allowed=shown,
        remedy="copy the value from the release, and check that it was published with this mechanism",
    )


def positions_of(mechanism: Mechanism, outputs: Outputs) -> np.ndarray:
    """Positions of many published values, given as labels or numbers; fast for arrays of numbers."""
    if isinstance(outputs, np.ndarray) and np.issubdtype(outputs.dtype, np.number):
        return _positions_of_numbers(mechanism, outputs)
    seen: dict[object, int] = {}
    found = []
    for value in outputs:
        if value not in seen:
            seen[value] = position_of(mechanism, value)
        found.append(seen[value])
    if not found:
        raise _nothing()
    return np.array(found, dtype=np.int64)


def _positions_of_numbers(mechanism: Mechanism, numbers: np.ndarray) -> np.ndarray:
    if numbers.size == 0:
        raise _nothing()
    if not np.isfinite(numbers).all():
        raise InputError(
            "A published value is not a finite number",
            found="NaN or infinity",
            allowed="finite numbers",
            remedy="leave out cells that were not published",
        )
    whole = np.issubdtype(numbers.dtype, np.integer)
    kernel = mechanism.kernel
    if whole and not isinstance(kernel, TableKernel):
        low, high = int(numbers.min()), int(numbers.max())
        if low < kernel.low or high > kernel.high:
            position_of(mechanism, low if low < kernel.low else high)
        return np.asarray(numbers - kernel.low)
    if whole and int(numbers.max()) - int(numbers.min()) <= LONGEST_LOOKUP:
        start = int(numbers.min())
        lookup = np.full(int(numbers.max()) - start + 1, -1, dtype=np.int64)
        for shift in np.flatnonzero(np.bincount(numbers - start)).tolist():
            lookup[shift] = position_of(mechanism, start + shift)
        return np.asarray(lookup[numbers - start])
    distinct, places = np.unique(numbers, return_inverse=True)
    found = [position_of(mechanism, exact(value, "a published value")) for value in distinct.tolist()]
    return np.array(found, dtype=np.int64)[places].reshape(numbers.shape)


def _nothing() -> InputError:
    return InputError(
        "There are no published values",
        found="an empty list",
        allowed="at least one",
        remedy="give the values",
    )


def states_at(mechanism: Mechanism, vectors: np.ndarray, kind: str) -> np.ndarray:
    """The state of each atom; `kind` says whether rows are histograms, databases, or positions in a listed universe."""
    universe = mechanism.problem.universe
    if isinstance(universe, ListedUniverse):
        return vectors[:, 0]
    if kind == "total":
        return np.searchsorted(mechanism.space.vectors[:, 0], totals_at(mechanism, vectors, kind))
    if kind == "database" and not mechanism.summary.ordered:
        vectors = universe.histograms_of(vectors)
    return mechanism.states_of(vectors)


def places_at(mechanism: Mechanism, vectors: np.ndarray, kind: str) -> np.ndarray:
    """What the kernel reads of each atom: its state for a table, its total for a closed form."""
    if mechanism.kernel.by_state:
        return states_at(mechanism, vectors, kind)
    return mechanism.kernel.places(totals_at(mechanism, vectors, kind)[:, None])


def totals_at(mechanism: Mechanism, vectors: np.ndarray, kind: str) -> np.ndarray:
    """The clipped weighted sum of each atom, for a linear summary; kind `total` rows hold it already."""
    summary = mechanism.weighted_sum
    if kind == "total":
        totals = vectors[:, 0]
    else:
        if kind == "database":
            vectors = mechanism.problem.people.histograms_of(vectors)
        totals = vectors @ np.array(summary.weights)
    low = -np.inf if summary.low is None else summary.low
    high = np.inf if summary.high is None else summary.high
    return np.clip(totals, low, high).astype(np.int64)


def log_likelihood(mechanism: Mechanism, position: int, vectors: np.ndarray, kind: str) -> Floats:
    """log m(s|x) for every atom x."""
    return output_logs(mechanism, np.array([position]), vectors, kind)[0]


def kernel_logs(mechanism: Mechanism, vectors: np.ndarray, kind: str) -> Floats:
    """log m(s|x) [output, atom]."""
    entries = output_count(mechanism) * len(vectors)
    if entries > MOST_ENTRIES:
        raise TooLarge(
            "There are too many outputs and databases for a table",
            size=f"{output_count(mechanism):,} outputs × {len(vectors):,}",
            fits=f"{MOST_ENTRIES:,} entries",
            remedy="look at single outputs, or use fewer respondents",
        )
    return output_logs(mechanism, np.arange(output_count(mechanism)), vectors, kind)


def output_logs(mechanism: Mechanism, positions: np.ndarray, vectors: np.ndarray, kind: str) -> Floats:
    """log m(s|x) [output, atom] for the outputs at some positions."""
    return mechanism.kernel.logs_at(positions, places_at(mechanism, vectors, kind))


def state_logs(mechanism: Mechanism) -> Floats:
    """log m(s|state) [output, state]; a closed form is evaluated in floating point, never expanded into rationals."""
    return np.asarray(mechanism.log_probabilities)


def exact_likelihood(mechanism: Mechanism, position: int, vectors: np.ndarray, kind: str) -> list[Fraction]:
    """m(s|x) for every atom x, as rationals."""
    kernel = mechanism.kernel
    places = places_at(mechanism, vectors, kind).tolist()
    found = {place: kernel.probability(position, place) for place in set(places)}
    return [found[place] for place in places]


def _same_number(outputs: Sequence[Output], wanted: str) -> int | None:
    """The one output whose label, or else whose action, is the same number."""
    number = _number(wanted)
    if number is None:
        return None
    for key in (lambda o: _number(o.label), lambda o: o.action):
        found = [i for i, o in enumerate(outputs) if key(o) == number]
        if len(found) == 1:
            return found[0]
    return None


def _number(text: str) -> Fraction | None:
    try:
        return exact(text)
    except InputError:
        return None
