"""Why a mechanism looks as it does, viewed: what it reads, how many values it tells apart, and where the promise binds.

An optimal mechanism uses its promise up: at most places where neighbouring states could differ by the factor e^ε they do, and
values that the prior makes rare share an output. Shares are counts in floats, told as about so much.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.model.mechanism import Mechanism
from discreet.model.promises import PurePromise
from discreet.numerics.digits import percent_about
from discreet.views.view import BREAK, Block, Heading, Sentence, View

MOST_ENTRIES = 4_000_000
NEAR = 1e-6
"""A log-ratio within this share of ε counts as binding."""


def shape_view(mechanism: Mechanism) -> View:
    """What the picture of a mechanism shows, in words; nothing where it is too large to look at."""
    try:
        facts = _facts(mechanism)
    except DiscreetError:
        return View({"shape": None}, ())
    return View({"shape": facts}, tuple(_told(facts)))


def _facts(mechanism: Mechanism) -> dict[str, Any] | None:
    if mechanism.kernel.width > MOST_ENTRIES or mechanism.kernel.width * len(mechanism.space.labels) > MOST_ENTRIES:
        return None
    table = mechanism.probabilities
    edges = np.asarray(mechanism.space.edges)
    reads = mechanism.summary.kind
    clamped = getattr(mechanism.summary, "clamp", None) is not None
    omegas = mechanism.problem.omega_range
    facts: dict[str, Any] = {
        "reads": reads,
        "clamped": clamped,
        "states": table.shape[1],
        "outputs": table.shape[0],
        "statistic_from": omegas[0],
        "statistic_to": omegas[1],
        "binding": None,
    }
    if isinstance(mechanism.guarantee.promise, PurePromise) and mechanism.guarantee.epsilon > 0 and len(edges):
        facts["binding"] = _binding(table, edges, float(mechanism.guarantee.epsilon))
    return facts


def _binding(table: np.ndarray, edges: np.ndarray, epsilon: float) -> float | None:
    """Of all outputs at all pairs of neighbouring states, the share at which the ratio is as large as the promise allows."""
    if len(edges) * len(table) > MOST_ENTRIES:
        return None
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    at = np.abs(logs[:, edges[:, 0]] - logs[:, edges[:, 1]])
    known = np.isfinite(at)
    return float((at[known] >= epsilon * (1 - NEAR)).sum() / max(1, known.sum()))


READS = {
    "histogram": "It reads how many respondents have each value, not the statistic alone: two cells with the same statistic can be "
    "published differently, because the others that are likely to be confused with them differ.",
    "linear": "It reads one sum alone, so cells with the same sum are published alike.",
    "database": "It reads the whole database.",
}


def _told(facts: dict[str, Any] | None) -> Iterator[Block]:
    if facts is None:
        return
    yield BREAK
    yield Heading("Why this shape")
    yield Sentence(READS[facts["reads"]])
    if facts["clamped"]:
        yield Sentence(
            "Counts that the prior makes very unlikely are first cut off, which changes neither the proof nor, by more "
            "than the gap, the loss."
        )
    few = facts["outputs"] < facts["states"]
    yield Sentence(
        f"It publishes one of {facts['outputs']:,} values about {facts['states']:,} states"
        + (": states that are rarely told apart usefully share a value, and what is saved goes to the others." if few else ".")
    )
    if facts["binding"] is not None:
        yield Sentence(
            f"At about {percent_about(facts['binding'])} of all outputs and pairs of neighbouring states the probabilities differ "
            "by the whole factor that the promise allows; elsewhere nothing would be gained by it."
        )
