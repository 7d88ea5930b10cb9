"""OpenDP's named mechanisms with their parameters, read from the measurement itself, as tables to be judged and compared.

A measurement remembers how it was made (its constructor and arguments). Its law follows from OpenDP's documentation;
its claim is its own privacy map at the distance of one neighbour. Laws are exact on a finite range of counts, outputs
beyond it gathered at its ends: what is proved holds on that range, what is refuted is refuted.

| constructor | states | claim |
|---|---|---|
| `make_laplace`, `make_geometric` (whole numbers) | counts low..high | ε at distance 1 |
| `make_gaussian` (whole numbers) | counts low..high | ρ at distance 1 |
| `make_randomized_response_bool`, `make_randomized_response` | the categories | ε |
| `make_laplace_threshold`, `make_gaussian_threshold` | one key's count, 0 when absent | (ε, δ) or (ρ, δ), one key changed by 1 |

A chain is read by its last measurement; the transformation before it is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from discreet.errors import InputError
from discreet.exchange.finite_mechanism import FiniteMechanism, finite
from discreet.exchange.judgement import Judgement, judge
from discreet.exchange.noise_laws import gaussian_law, geometric_law, response_law, thresholded
from discreet.exchange.peers import OPENDP, binary, peer, version_of

WHOLE = re.compile(r"AtomDomain\(.*T=[iu]\d+.*\)")
KEYED = re.compile(r"MapDomain \{.*value_domain: AtomDomain\(.*T=[iu]\d+.*\) \}")
ONE_KEY = (1, 1, 1)
"""One key, changed by one in sum (or length) and in size: the neighbours of a respondent who is counted once."""


@dataclass(frozen=True, eq=False)
class Claimed:
    """A peer's mechanism as a table, and what the peer promises for it."""

    mechanism: FiniteMechanism
    peer: str
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None

    def judged(self) -> Judgement:
        """The peer's promise proved or refuted."""
        return judge(self.mechanism, epsilon=self.epsilon, delta=self.delta, rho=self.rho)


def from_opendp(measurement: Any, *, low: int = 0, high: int = 10, reach: int | None = None) -> Claimed:
    """A named mechanism of OpenDP as a table on counts low..high, with its own privacy map as the claim."""
    peer(OPENDP, "reading measurements", ["prelude", "mod"], ["Measurement"])
    if not low < high:
        raise InputError("The range of counts is empty", found=f"{low}..{high}", allowed="low < high", remedy="give two counts")
    measurement = _last(measurement)
    made, given = _constructor(measurement)
    reader = READERS.get(made)
    if reader is None:
        raise InputError(
            "This measurement has no finite table here",
            found=made,
            allowed=list(READERS),
            remedy="give its probabilities as a table to discreet.exchange.finite",
        )
    return reader(measurement, made, given, low, high, reach)


def _last(measurement: Any) -> Any:
    while getattr(measurement, "__opendp_dict__", {}).get("__function__") == "make_chain_mt":
        measurement = measurement.__opendp_dict__["__kwargs__"]["measurement1"]
    return measurement


def _constructor(measurement: Any) -> tuple[str, Mapping[str, Any]]:
    made = getattr(measurement, "__opendp_dict__", None)
    if not isinstance(made, dict) or "__function__" not in made:
        raise InputError(
            "This measurement does not say how it was made",
            found=f"{type(measurement).__name__}, opendp {version_of(OPENDP)}",
            allowed=f"a measurement of opendp {OPENDP.oldest} or newer",
            remedy="update opendp, or give the table itself",
        )
    return str(made["__function__"]), made["__kwargs__"]


def _noise(measurement: Any, made: str, given: Mapping[str, Any], low: int, high: int, reach: int | None) -> Claimed:
    domain = str(given["input_domain"])
    if not WHOLE.fullmatch(domain):
        raise InputError(
            f"{made} is read on one whole number",
            found=domain,
            allowed="AtomDomain of an integer type",
            remedy="floating-point and vector noise has no finite table; publish counts",
        )
    scale = binary(given["scale"], "scale")
    bounds = given.get("bounds")
    if bounds:
        low, high = (int(end) for end in bounds)
    if made == "make_gaussian":
        far = ceil(3 * scale) if reach is None else reach
        rows, outputs = gaussian_law(scale, low, high, low - far, high + far)
    else:
        far = 0 if reach is None else reach
        rows, outputs = geometric_law(1 / scale, low, high, low - far, high + far)
    return _claimed(measurement, made, rows, [str(s) for s in range(low, high + 1)], [str(o) for o in outputs], "counts", 1)


def _response(measurement: Any, made: str, given: Mapping[str, Any], *_: Any) -> Claimed:
    names = ["false", "true"] if made.endswith("bool") else [str(c) for c in given["categories"]]
    rows = response_law(len(names), binary(given["prob"], "prob"))
    return _claimed(measurement, made, rows, names, names, "all", 1)


def _threshold(measurement: Any, made: str, given: Mapping[str, Any], _: int, high: int, reach: int | None) -> Claimed:
    domain = str(given["input_domain"])
    if not KEYED.fullmatch(domain):
        raise InputError(
            f"{made} is read on whole counts by key",
            found=domain,
            allowed="MapDomain with an integer value domain",
            remedy="publish counts",
        )
    scale, limit = binary(given["scale"], "scale"), int(given["threshold"])
    far = ceil(10 * scale) if reach is None else reach
    top = max(high, limit) + far
    gaussian = made == "make_gaussian_threshold"
    law = gaussian_law(scale, 0, high, -top, top) if gaussian else geometric_law(1 / scale, 0, high, -top, top)
    rows, outputs = thresholded(*law, limit)
    return _claimed(measurement, made, rows, [str(s) for s in range(high + 1)], outputs, "counts", ONE_KEY)


def _claimed(
    measurement: Any, made: str, rows: Any, states: list[str], outputs: list[str], neighbours: str, distance: Any
) -> Claimed:
    table = finite(rows, states=states, outputs=outputs, states_in="rows", neighbours=neighbours, name=made)
    promised, measure = measurement.map(distance), str(measurement.output_measure)
    source = f"OpenDP {version_of(OPENDP)}"
    first, delta = promised if isinstance(promised, tuple) else (promised, None)
    amount = binary(first, "the promise")
    chance = None if delta is None else binary(delta, "delta")
    if "ZeroConcentrated" in measure:
        return Claimed(table, source, rho=amount, delta=chance)
    if "MaxDivergence" in measure:
        return Claimed(table, source, epsilon=amount, delta=chance)
    raise InputError(
        "This measure of privacy is not decided here",
        found=measure,
        allowed="MaxDivergence, ZeroConcentratedDivergence, approximate or not",
        remedy="convert the measurement in OpenDP first",
    )


READERS = {
    "make_laplace": _noise,
    "make_geometric": _noise,
    "make_gaussian": _noise,
    "make_randomized_response_bool": _response,
    "make_randomized_response": _response,
    "make_laplace_threshold": _threshold,
    "make_gaussian_threshold": _threshold,
}
