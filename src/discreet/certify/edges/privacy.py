"""Is this mechanism private? Each kind of promise has its check, on the graph that problem and summary make.

The graph is derived from universe, neighbours and summary, never read; a file whose edges differ is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.certify.edges.pure import pure_privacy
from discreet.files.mechanism_document import mechanism_hash
from discreet.model.certificate import Certificate, Counterexample, PrivacyProof
from discreet.model.kernel import TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import ApproximatePromise, ConcentratedPromise, Promise, PurePromise
from discreet.model.states import StateSpace
from discreet.on_demand import when_called

CHECKS: dict[type[Promise], Callable[[Mechanism, Any], PrivacyProof | Counterexample]] = {
    PurePromise: pure_privacy,
    ConcentratedPromise: when_called("discreet.certify.edges.concentrated", "concentrated_privacy"),
    ApproximatePromise: when_called("discreet.certify.edges.approximate", "approximate_privacy"),
}
"""The check of each kind of promise."""


def privacy(mechanism: Mechanism) -> Certificate | Counterexample:
    """A certificate that the mechanism keeps its guarantee, or the edge and output that break it."""
    promise, kernel = mechanism.guarantee.promise, mechanism.kernel
    wrong = _stated_edges(mechanism.table, mechanism.space) if kernel.by_state else None
    found = wrong or CHECKS[type(promise)](mechanism, promise)
    return found if isinstance(found, Counterexample) else Certificate(mechanism_hash(mechanism), found)


def _stated_edges(kernel: TableKernel, space: StateSpace) -> Counterexample | None:
    """A file may list edges for its readers; a list that differs from the derived one misleads them."""
    if kernel.stated_edges is None:
        return None
    derived = {(int(a), int(b)) for a, b in space.edges}
    stated = {(min(edge), max(edge)) for edge in kernel.stated_edges}
    wrong = min(derived ^ stated, default=None)
    if wrong is None and len(stated) == len(kernel.stated_edges):
        return None
    if wrong is None:
        return Counterexample("edges", "The file lists an edge twice", found=str(len(kernel.stated_edges)))
    a, b = wrong
    names = (_label(space, a), _label(space, b))
    words = "is missing from the file" if wrong in derived else "is listed in the file but joins no neighbours"
    return Counterexample(
        "edges",
        f"The edge between states {names[0]} and {names[1]} {words}",
        edge=names,
        found=f"{len(stated)} edges",
        allowed=f"{len(derived)} edges",
    )


def _label(space: StateSpace, state: int) -> str:
    return space.labels[state] if 0 <= state < len(space) else f"number {state}"
