"""Perturbation tables viewed: their shape, their exact δ count by count, designs and improvements, and what they do not promise."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.certify.edges.approximate import ApproximateProof, edge_leaks
from discreet.exchange.cell_keys.designing import Improvement, LeastEpsilon, TableDesign, leaks
from discreet.exchange.cell_keys.perturbation import ACROSS_TABLES, PerturbationTable
from discreet.exchange.judgement import decide
from discreet.numerics.digits import about, at_least, at_most, given
from discreet.views.judgement import delta_facts, finding_facts, finding_told
from discreet.views.view import Block, Fact, Grid, Mood, Sentence, View, proved

MOST_PAIRS = 12


def table_view(table: PerturbationTable) -> View:
    """Its shape: D, the mean and variance at each count, zeros, blocked outputs."""
    counts = range(len(table.rows))
    variance = table.variance(len(table.rows) - 1)
    changing = [count for count in counts if count < 2 or table.law(count) != table.law(count - 1)]
    facts = {
        "table": table.name,
        "rows": len(table.rows),
        "noise": table.largest_noise,
        "variance": variance,
        "variances": [table.variance(count) for count in changing],
        "bias": max((abs(table.mean(count)) for count in counts), default=Fraction(0)),
        "keeps_zeros": table.keeps_zeros,
        "never_negative": table.never_negative,
        "blocked": table.blocked(),
        "notes": table.notes,
    }
    zeros = "zeros are kept" if table.keeps_zeros else "zeros may change"
    negative = "never negative" if table.never_negative else "may be negative"
    shape = f"D = {table.largest_noise}, V = {about(variance, 6)}, {len(table.rows)} rows, {zeros}, {negative}"
    notes = [Fact("note", note, Mood.MIND) for note in table.notes]
    return View(facts, (Sentence(f"{table.name or 'table'}: {shape}"), *notes))


def certified_view(table: PerturbationTable, epsilon: Fraction, delta: Fraction | None, below: int | None) -> View:
    """δ at ε exactly, count by count, with the worst edge; and the claim when a δ is claimed."""
    mechanism = table.mechanism(below)
    each = edge_leaks(mechanism.weights, epsilon)
    pairs = [
        {"counts": [one.first, one.second], "up": [one.low, one.high], "down": [other.low, other.high]}
        for one, other in zip(each[::2], each[1::2], strict=True)
    ]
    proof, inner = leaks(table, epsilon, below)
    claim = None if delta is None else decide(mechanism, epsilon, delta)
    facts = {
        **_delta(proof, inner),
        "by_count": pairs,
        "claim": None if claim is None else finding_facts(claim),
        "across_tables": ACROSS_TABLES,
    }
    shown = [
        (f"{one.first}, {one.second}", at_most(one.high, 6), at_most(other.high, 6))
        for one, other in zip(each[: 2 * MOST_PAIRS : 2], each[1 : 2 * MOST_PAIRS : 2], strict=True)
    ]
    told: list[Block] = [*(finding_told(claim) if claim is not None else ()), *_leaks_told(proof, inner)]
    told.append(Grid(("counts", "δ upwards", "δ downwards"), shown))
    if len(pairs) > len(shown):
        told.append(Sentence(f"  and {len(pairs) - len(shown)} more pairs (--json shows all)"))
    told.append(_across())
    return table_view(table) + View(facts, tuple(told), claim is None or claim.holds is not False)


def design_view(design: TableDesign) -> View:
    """A designed table, its exact δ and what no table goes below."""
    facts = {
        **_delta(design.delta, design.inner), "bound": design.bound, "within": design.gap, "across_tables": ACROSS_TABLES,
    }  # fmt: skip
    told = (*_leaks_told(design.delta, design.inner), Fact("no such table below", at_least(design.bound, 9)), _across())
    return table_view(design.table) + View(facts, told)


def least_epsilon_view(found: LeastEpsilon) -> View:
    """The least ε at a δ from both sides, with the table that attains the upper one."""
    facts = {"asked_delta": found.delta, "least_epsilon": [found.lower, found.found.epsilon]}
    words = f"{at_most(found.found.epsilon, 6)} with this table; below {at_least(found.lower, 6)} none has δ = {given(found.delta)}"
    return design_view(found.found) + View(facts, (Fact("least ε", words),))


def improvement_view(found: Improvement) -> View:
    """A given table beside the redesigned one, and what is proved about the difference."""
    given_view = table_view(found.given) + View(
        _delta(found.given_delta, found.given_inner), tuple(_leaks_told(found.given_delta, found.given_inner))
    )
    redesigned = design_view(found.found)
    facts = {
        "given": given_view.facts,
        "redesigned": redesigned.facts,
        "better_by": found.better_by,
        "none_better": found.none_better,
        "at_most_by": found.at_most_by,
    }
    if found.none_better:
        verdict = proved("no unbiased table that is nowhere noisier has a smaller δ.")
    else:
        most = at_most(found.at_most_by, 6)
        verdict = Sentence(f"Smaller by at least {at_least(found.better_by, 6)}; no such table is better by more than {most}.")
    return View(facts, (*given_view.told, *redesigned.told, verdict))


def written_view(place: Path | None, form: str) -> View:
    """Where a table was written, in which format; nothing when it was not."""
    if place is None:
        return View({}, ())
    return View({"written": place, "format": form}, (Sentence(f"{place} ({form})", "Written:", whole=True),))


def _delta(proof: ApproximateProof, inner: Fraction) -> dict[str, Any]:
    return {**delta_facts(proof), "inner_delta": inner}


def _leaks_told(proof: ApproximateProof, inner: Fraction) -> Iterator[Block]:
    edge = "" if proof.edge is None else f", counts {proof.edge[0]} and {proof.edge[1]}"
    yield Fact(f"δ at ε = {given(proof.epsilon)}", f"{at_most(proof.tight_high, 9)}{edge}")
    yield Fact("positive counts", at_most(inner, 9))


def _across() -> Fact:
    return Fact("mind", ACROSS_TABLES, Mood.MIND)
