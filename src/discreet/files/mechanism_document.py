"""The exact document of a mechanism: what is written, and what its hash is taken of. Numbers are text or whole.

Writing needs no shapes, so that whoever designs or certifies does not load them.
"""

from __future__ import annotations

from typing import Any

from discreet.files.canonical import Streamed, pieces_hash
from discreet.files.problem_document import problem_document
from discreet.model.actions import Action
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.noise_kernel import Recommended
from discreet.model.progression import Progression
from discreet.model.summary import Clamp, HistogramSummary, LinearSummary, Summary
from discreet.numerics.exact import format_exact, format_integer

FORMAT = "discreet-mechanism/1"


def mechanism_hash(mechanism: Mechanism) -> str:
    return pieces_hash(mechanism_document(mechanism, streamed=True))


def mechanism_document(mechanism: Mechanism, *, streamed: bool = False) -> dict[str, Any]:
    """The mechanism as a document of exact text: what is hashed; `streamed` leaves the list of actions to whoever writes it."""
    guarantee = mechanism.guarantee
    claims = {key: getattr(mechanism.claims, key) for key in ("value", "bound")}
    stated = {"neighbours": guarantee.neighbours, "unit": guarantee.unit}
    return {
        "format": FORMAT,
        "problem": problem_document(mechanism.problem),
        "summary": summary_document(mechanism.summary),
        "kernel": _kernel_document(mechanism, streamed),
        "guarantee": guarantee.promise.document() | stated,
        "claims": {key: format_exact(claim) for key, claim in claims.items() if claim is not None},
        "provenance": dict(mechanism.provenance),
    }


def summary_document(summary: Summary) -> dict[str, Any]:
    if isinstance(summary, LinearSummary):
        document: dict[str, Any] = {"kind": "linear", "weights": list(summary.weights)}
        return document | {key: end for key in ("low", "high") if (end := getattr(summary, key)) is not None}
    if isinstance(summary, HistogramSummary) and summary.clamp is not None:
        return {"kind": "histogram", "clamp": clamp_document(summary.clamp)}
    return {"kind": summary.kind}


def clamp_document(clamp: Clamp) -> dict[str, Any]:
    document: dict[str, Any] = {"lower": list(clamp.lower), "upper": list(clamp.upper)}
    if clamp.reference is not None:
        document["reference"] = clamp.reference
    return document if clamp.rest is None else document | {"rest": list(clamp.rest)}


def _kernel_document(mechanism: Mechanism, streamed: bool) -> dict[str, Any]:
    kernel = mechanism.kernel
    if isinstance(kernel, TableKernel):
        stated = kernel.stated_edges
        return {
            "family": "table",
            "states": list(kernel.states),
            "outputs": [_output_document(output) for output in kernel.outputs],
            "weights": [[format_integer(w) for w in row] for row in kernel.weights],
            "denominator": format_integer(kernel.denominator),
            "edges": mechanism.space.edges.tolist() if stated is None else [list(edge) for edge in stated],
        }
    document: dict[str, Any] = {"family": kernel.family, "from": kernel.low, "to": kernel.high, "step": kernel.step}
    document |= kernel.parameters()
    if (actions := kernel.actions) is not None:
        document["actions"] = _written(actions) if streamed else [recommendation_document(action) for action in actions]
    return document


def _written(actions: Recommended) -> Streamed:
    """The list of what outputs recommend; of noise a million numbers, each in an object of its own."""
    if isinstance(actions, Progression):
        return Streamed(actions.texts, key="number")
    return Streamed(lambda: map(recommendation_document, actions))


def action_document(action: Action) -> dict[str, str]:
    return {"name": action} if isinstance(action, str) else {"number": format_exact(action)}


def _output_document(output: Output) -> dict[str, Any]:
    document: dict[str, Any] = {"label": output.label}
    return document if output.action is None else document | {"action": recommendation_document(output.action)}


def recommendation_document(action: Action | tuple[Action, ...]) -> Any:
    return [action_document(a) for a in action] if isinstance(action, tuple) else action_document(action)
