"""Perturbation tables and what was found about them as mappings, for the command line, its JSON and pages."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.certify.edges.approximate import edge_leaks
from discreet.exchange.cell_keys.designing import Improvement, LeastEpsilon, TableDesign, leaks
from discreet.exchange.cell_keys.perturbation import ACROSS_TABLES, PerturbationTable
from discreet.exchange.facts import delta_facts, finding_facts
from discreet.exchange.judgement import decide


def table_facts(table: PerturbationTable) -> dict[str, Any]:
    """Its shape: D, the mean and variance at each count, zeros, blocked outputs."""
    counts = range(len(table.rows))
    settled = [count for count in counts if count < 2 or table.law(count) != table.law(count - 1)]
    return {
        "table": table.name,
        "rows": len(table.rows),
        "noise": table.largest_noise,
        "variance": table.variance(len(table.rows) - 1),
        "variances": [table.variance(count) for count in settled],
        "bias": max((abs(table.mean(count)) for count in counts), default=Fraction(0)),
        "keeps_zeros": table.keeps_zeros,
        "never_negative": table.never_negative,
        "blocked": table.blocked(),
        "notes": table.notes,
    }


def certified_facts(
    table: PerturbationTable, epsilon: Fraction, delta: Fraction | None, below: int | None
) -> dict[str, Any]:
    """δ at ε exactly, count by count, with the worst edge; and the claim when a δ is claimed."""
    mechanism = table.mechanism(below)
    each = edge_leaks(mechanism.weights, epsilon)
    pairs = [
        {"counts": [one.first, one.second], "up": [one.low, one.high], "down": [other.low, other.high]}
        for one, other in zip(each[::2], each[1::2], strict=True)
    ]
    proof, inner = leaks(table, epsilon, below)
    return {
        **table_facts(table),
        **delta_facts(proof),
        "inner_delta": inner,
        "by_count": pairs,
        "claim": None if delta is None else finding_facts(decide(mechanism, epsilon, delta)),
        "across_tables": ACROSS_TABLES,
    }


def design_facts(design: TableDesign) -> dict[str, Any]:
    """A designed table, its exact δ and what no table goes below."""
    return {
        **table_facts(design.table),
        **delta_facts(design.delta),
        "inner_delta": design.inner,
        "bound": design.bound,
        "within": design.gap,
        "across_tables": ACROSS_TABLES,
    }


def improvement_facts(found: Improvement) -> dict[str, Any]:
    """A given table beside the redesigned one."""
    return {
        "given": {**table_facts(found.given), **delta_facts(found.given_delta), "inner_delta": found.given_inner},
        "redesigned": design_facts(found.found),
        "better_by": found.better_by,
        "none_better": found.none_better,
        "at_most_by": found.at_most_by,
    }


def least_epsilon_facts(found: LeastEpsilon) -> dict[str, Any]:
    """The least ε at a δ from both sides, with the table that attains the upper one."""
    return {**design_facts(found.found), "asked_delta": found.delta, "least_epsilon": [found.lower, found.found.epsilon]}
