"""Results as columns of plain numbers and texts, from which a pandas or Polars frame or an Arrow table is made.

A loss is rounded up and a bound down, as in the views, so that a frame claims no more than was proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.design.questions.family import FamilyDesign
from discreet.design.questions.frontier import Frontier
from discreet.exchange import finite_of
from discreet.interpret import Posterior
from discreet.interpret.choosing import Choices
from discreet.model.mechanism import Mechanism
from discreet.numerics.digits import number_at_least, number_at_most

Columns = Mapping[str, Sequence[Any]]


def mechanism_columns(mechanism: Mechanism) -> Columns:
    """One row for each state and output that is possible there: how likely it is published."""
    table = finite_of(mechanism)
    rows = [
        (state, output, float(table.channel.rows[i][j]))
        for j, state in enumerate(table.states)
        for i, output in enumerate(table.outputs)
        if table.channel.rows[i][j]
    ]
    return _columns(("state", "output", "probability"), rows)


def family_columns(found: FamilyDesign) -> Columns:
    """One row for each size that a member serves."""
    rows = [
        (size, number_at_most(-value), how.relative_gap, how.status, member.padded)
        for member, how in zip(found.family.members, found.made, strict=True)
        for size, value in member.values
    ]
    return _columns(("size", "loss", "relative_gap", "status", "padded"), rows)


def frontier_columns(found: Frontier) -> Columns:
    """One row for each level; the baselines have a column each, empty where one could not be computed."""
    names = list(dict.fromkeys(name for point in found.points for name in point.baselines))
    rows = [
        (
            float(point.level), number_at_most(-point.value), number_at_least(-point.bound),
            *(point.baselines[name].loss if name in point.baselines else None for name in names),
        )
        for point in found.points
    ]  # fmt: skip
    return _columns((found.problem.promise.keys[0], "loss", "lower_bound", *names), rows)


def choice_columns(found: Choices) -> Columns:
    """One row for each level: what an attacker, an analyst and the decision can reach."""
    rows = [
        (float(row.level), row.attacker, row.attacker_together, row.power_limit, row.power, row.loss, row.sentence)
        for row in found.rows
    ]
    return _columns((found.key, "attacker", "attacker_together", "power_at_most", "power", "loss", "sentence"), rows)


def posterior_columns(found: Posterior) -> Columns:
    """One row for each possibility."""
    named = found.labels if found.values is None else [float(value) for value in found.values]
    return {found.about: list(named), "probability": [float(p) for p in found.probabilities]}


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}
