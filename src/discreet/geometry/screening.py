"""Screening: could this mechanism be optimal? Counted by the privacy bounds that its posteriors attain.

An optimal mechanism can be taken to induce extreme points of K only, each of which attains at least n − 1 privacy
bounds on n connected states, (T+1)^N − 1 on databases (SY Prop. 2 and section 6). A posterior is extreme exactly when
the edges it attains connect the states it deems possible. An output that fails the count can be split into better
informed ones: some other private mechanism serves every decision maker at least as well and some strictly better
(SY Lemma 6). Passing is necessary, not sufficient. A rational kernel never attains e^ε itself, so bounds count as
attained to within a tolerance in log terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError
from discreet.geometry.channel import states_at
from discreet.geometry.of_problem import stated
from discreet.model.mechanism import Mechanism


@dataclass(frozen=True)
class ScreenedOutput:
    """One output: how many privacy bounds its posterior attains, and whether it is an extreme point."""

    label: str
    attained: int
    required: int
    extreme: bool


@dataclass(frozen=True)
class Screen:
    """The verdict, output by output. `among` says which mechanisms it competes with."""

    among: str
    outputs: tuple[ScreenedOutput, ...]
    independent: bool

    @property
    def could_be_optimal(self) -> bool:
        """Whether every posterior is extreme: otherwise a better informed private mechanism exists."""
        return all(output.extreme for output in self.outputs)

    @property
    def in_normal_form(self) -> bool:
        """Whether it also has the form of Prop. 2: linearly independent posteriors, so as few outputs as needed."""
        return self.could_be_optimal and self.independent


def screen(mechanism: Mechanism, among: str = "all", tolerance: float = 1e-6) -> Screen:
    """Count the privacy bounds that each output attains.

    `among = "all"` looks at the databases (or histograms) of the problem; `among = "summary"` only at mechanisms with
    the same summary, whose graph is much smaller.
    """
    if among not in ("all", "summary"):
        raise InputError(
            "A mechanism is screened among all private ones or those with its summary",
            found=among,
            allowed=["all", "summary"],
            remedy="choose one of these",
        )
    if among == "all":
        reads_databases = mechanism.summary.ordered
        listed = stated(mechanism.problem, "databases" if reads_databases else "finest")
        at = states_at(mechanism, listed)
        edges = np.asarray(listed.space.edges)
    else:
        at = list(range(len(mechanism.space)))
        edges = np.asarray(mechanism.space.edges)
    logs = mechanism.log_probabilities[:, at]
    labels = [output.label for output in mechanism.outputs]
    return screened(labels, logs, edges, float(mechanism.guarantee.epsilon), among, tolerance)


def screened(
    labels: Sequence[str], logs: np.ndarray, edges: np.ndarray, epsilon: float, among: str, tolerance: float = 1e-6
) -> Screen:
    """The privacy bounds at ε that each output attains, from log probabilities [output, state] and edges between states."""
    possible = np.isfinite(logs).any(axis=1)
    outputs = tuple(
        _screened(label, row, edges, logs.shape[1], epsilon - tolerance)
        for label, row, kept in zip(labels, logs, possible, strict=True)
        if kept
    )
    return Screen(among, outputs, _independent(logs[possible]))


def _screened(label: str, logs: np.ndarray, edges: np.ndarray, n: int, reach: float) -> ScreenedOutput:
    live = np.isfinite(logs)
    kept = edges[live[edges].all(axis=1)] if len(edges) else edges
    tight = kept[np.abs(logs[kept[:, 0]] - logs[kept[:, 1]]) >= reach] if len(kept) else kept
    return ScreenedOutput(label, len(tight), int(live.sum()) - 1, _connects(tight, live, n))


def _connects(tight: np.ndarray, live: np.ndarray, n: int) -> bool:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(tight)), (tight[:, 0], tight[:, 1])) if len(tight) else ([], ([], [])), shape=(n, n))
    part = connected_components(links, directed=False)[1]
    return len(set(part[live].tolist())) == 1


def _independent(logs: np.ndarray) -> bool:
    """Whether the likelihood rows are linearly independent, scaled to their largest entry."""
    rows = np.exp(logs - logs.max(axis=1, keepdims=True))
    return int(np.linalg.matrix_rank(rows)) == len(rows)
