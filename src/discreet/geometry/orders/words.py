"""The comparison of two mechanisms in sentences: which tells more, to whom, and what shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AUDIENCES = {
    "blackwell": ("For every decision", "Blackwell's order"),
    "uprr": ("For every decision in which a higher statistic asks for a higher action", "order of peaked relative risks"),
    "supermodular": ("For acting on the rank of the posterior mean", "supermodular order"),
}
NEWS = {
    "mlrp": "Higher outputs as better news (likelihood ratios)",
    "first_order": "Higher outputs as higher beliefs (first-order dominance)",
}


def orders_in_words(found: Mapping[str, Any]) -> list[str]:
    """One line for each order of `compare_orders`."""
    lines = []
    for key, (audience, name) in AUDIENCES.items():
        forward, backward = found[key]["first_over_second"], found[key]["second_over_first"]
        lines.append(f"{audience} ({name}): {_verdict(forward, backward)}")
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
        return "the two tell the same"
    if first:
        return "the first tells more" + _shown(backward)
    if second:
        return "the second tells more" + _shown(forward)
    if first is None or second is None:
        return "not decided"
    return "neither tells more" + _shown(forward)


def _shown(failed: Mapping[str, Any]) -> str:
    """What refutes the failed direction."""
    if "decision" in failed:
        return f"; a decision shows it, by {failed['decision']['advantage']:.3g}"
    example = failed.get("counterexample")
    if isinstance(example, Mapping) and "output" in example:
        falls, rises = ("–".join(example[side]) for side in ("falls_between", "rises_between"))
        return f"; output {example['output']} has no peak (falls at {falls}, rises at {rises})"
    if isinstance(example, Mapping):
        return f"; seen at ω ≤ {example['statistic_at_most']}, rank ≤ {example['rank_at_most']:.3g}"
    return ""


def _news(side: Mapping[str, Any]) -> str:
    if side["within"]:
        return "ordered"
    return "not ordered (" + " and ".join(side["counterexample"]) + ")"
