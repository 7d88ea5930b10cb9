"""The comparison of two mechanisms in sentences: which tells more, to whom, and what shows it.

"Tells more" is said only where a decision shows that the other does not tell as much; "at least as much" where one direction
is proved and the other is open; "neither" where a decision shows it each way; everything else is not decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.numerics.digits import about, at_least

AUDIENCES = {
    "blackwell": ("For every decision", "Blackwell's order"),
    "monotone": ("For every decision in which a higher statistic asks for a higher action", ""),
    "supermodular": ("For acting on the rank of the posterior mean", "supermodular order"),
}
SHOWN_BY = {"blackwell": "it holds for every decision", "uprr": "by peaked relative risks"}
NEWS = {
    "mlrp": "Higher outputs as better news (likelihood ratios)",
    "first_order": "Higher outputs as higher beliefs (first-order dominance)",
}


def orders_in_words(found: Mapping[str, Any]) -> list[str]:
    """One line for each order of `compare_orders`."""
    lines = []
    for key, (audience, name) in AUDIENCES.items():
        forward, backward = found[key]["first_over_second"], found[key]["second_over_first"]
        lines.append(f"{audience}{f' ({name})' if name else ''}: {_verdict(forward, backward)}")
    for key, name in NEWS.items():
        sides = [_news(found[key][side]) for side in ("first", "second")]
        lines.append(f"{name}: outputs of the first are {sides[0]}, of the second {sides[1]}")
    for which, reads_only in zip(("first", "second"), found["oblivious"], strict=True):
        if not reads_only:
            lines.append(f"the {which} reads more than the statistic")
    if not found["exact"]:
        lines.append("(numbers this long were rounded first: what holds, holds up to one part in a billion)")
    return lines


def _verdict(forward: Mapping[str, Any], backward: Mapping[str, Any]) -> str:
    first, second = forward["within"], backward["within"]
    if first and second:
        return "the two tell the same" + _nearly(forward, backward)
    for holding, other, name in ((forward, backward, "first"), (backward, forward, "second")):
        if holding["within"] and other["within"] is False:
            return f"the {name} tells more{_nearly(holding)}{_reason(holding)}{_shown(other)}"
        if holding["within"]:
            return f"the {name} tells at least as much{_nearly(holding)}{_reason(holding)}"
    if first is False and second is False:
        return "neither tells more" + _shown(forward)
    if first is None and second is None:
        return "not decided"
    failed, name = (forward, "first") if first is False else (backward, "second")
    return f"the {name} does not tell as much, whether the other does is not decided" + _shown(failed)


def _nearly(*verdicts: Mapping[str, Any]) -> str:
    return "" if all(verdict["holds"] for verdict in verdicts) else ", up to rounding"


def _reason(verdict: Mapping[str, Any]) -> str:
    return f" ({SHOWN_BY[verdict['by']]})" if "by" in verdict else ""


def _shown(failed: Mapping[str, Any]) -> str:
    """What refutes the failed direction."""
    if "decision" in failed:
        decision = failed["decision"]
        what = f"acting from {decision['act_from']} on" if "act_from" in decision else "a decision"
        return f"; {what} shows it, by {at_least(decision['advantage'], 3)}"
    example = failed.get("counterexample")
    if isinstance(example, Mapping):
        return f"; seen at ω ≤ {example['statistic_at_most']}, rank ≤ {about(example['rank_at_most'], 3)}"
    return ""


def _news(side: Mapping[str, Any]) -> str:
    if side["within"]:
        return "ordered"
    return "not ordered (" + " and ".join(side["counterexample"]) + ")"
