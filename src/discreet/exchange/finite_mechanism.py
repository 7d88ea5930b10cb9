"""Anyone's finite mechanism: exact probabilities of listed outputs at listed states, and who is a neighbour of whom.

m(a|h) ≥ 0 with Σ_a m(a|h) = 1; axes [output][state]. Where the numbers came from does not matter: a file, an array, a
peer's table. Without problem, prior or decision nothing can be said about its use; everything about its privacy can,
exactly.

Neighbours are said, never guessed: `all` (every two states, the strongest promise), `counts` (whole numbers at most `step` apart),
`listed` (states next to each other in the given order), or pairs of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, lcm, prod
from typing import TYPE_CHECKING, Any

from discreet.certify.edges.approximate import WeightTable
from discreet.errors import InputError, TooLarge
from discreet.geometry.channel import Channel, own_channel
from discreet.model.mechanism import Mechanism
from discreet.numerics.exact import exact, format_exact, normalised

if TYPE_CHECKING:
    from discreet.currencies import Channel as ProfiledChannel

NEAR_ONE = Fraction(1, 10**9)
"""How far the probabilities of a state may be from summing to one before they are refused."""
RELATIONS = ("all", "counts", "listed")
MOST_ENTRIES = 4_000_000
MOST_EDGES = 4_000_000
MOST_BITS = 4_000_000_000
"""Entries times the length of their common denominator beyond which a table is not written in integers."""

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class FiniteMechanism:
    """A channel with its neighbours. `relation` says in words who is a neighbour of whom, `notes` what was done to the numbers."""

    channel: Channel
    edges: tuple[tuple[int, int], ...]
    relation: str
    name: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        size = len(self.states) * len(self.outputs)
        if size > MOST_ENTRIES or len(self.edges) > MOST_EDGES:
            raise TooLarge(
                "This mechanism has too many entries to be looked at one by one",
                size=f"{len(self.outputs):,} outputs × {len(self.states):,} states, {len(self.edges):,} edges",
                fits=f"{MOST_ENTRIES:,} entries and as many edges",
                remedy="merge outputs, or give a part of the states",
            )

    @property
    def states(self) -> tuple[str, ...]:
        return self.channel.states

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.channel.outputs

    @property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """Probabilities [output][state]."""
        return self.channel.rows

    @cached_property
    def columns(self) -> tuple[tuple[Fraction, ...], ...]:
        """Probabilities [state][output]."""
        return tuple(zip(*self.rows, strict=True))

    @cached_property
    def weights(self) -> WeightTable:
        """The table in integers over one denominator, as the checker reads it."""
        denominator = lcm(*(p.denominator for row in self.rows for p in row))
        if denominator.bit_length() * len(self.states) * len(self.outputs) > MOST_BITS:
            raise TooLarge(
                "The probabilities have no short common denominator",
                size=f"{denominator.bit_length():,} bits for each entry",
                fits=f"{MOST_BITS // (len(self.states) * len(self.outputs)):,} bits",
                remedy="write them as decimals of 30 digits",
            )
        rows = [[p.numerator * (denominator // p.denominator) for p in row] for row in self.rows]
        return WeightTable(self.states, self.outputs, rows, denominator, self.edges)

    @cached_property
    def profiled(self) -> ProfiledChannel:
        """The same rows as the currencies read them."""
        from discreet.currencies import channel_from_rows

        return channel_from_rows(self.columns, edges=list(self.edges), labels=self.states)

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th scope='col'>{escape(output)}</th>" for output in self.outputs[:20])
        lines = "".join(
            f"<tr><th scope='row'>{escape(state)}</th>" + "".join(f"<td>{float(p):.4g}</td>" for p in column[:20]) + "</tr>"
            for state, column in zip(self.states[:20], self.columns[:20], strict=True)
        )
        words = f"{len(self.states):,} states, {len(self.outputs):,} outputs; {self.relation}"
        return (
            f"<div class='discreet'><h4>{escape(self.name or 'Finite mechanism')}</h4><p>{escape(words)}</p>"
            f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
        )


def finite(
    probabilities: Any,
    *,
    states: Sequence[object] | None = None,
    outputs: Sequence[object] | None = None,
    states_in: str | None = None,
    neighbours: str | Pairs = "all",
    step: int = 1,
    name: str = "",
) -> FiniteMechanism:
    """A finite mechanism from an array, a frame's values or nested lists of numbers, fractions or text such as "1/3".

    `states_in` is "rows" or "columns". Left out, it is told from which of the two sum to one; where both do and the table is not
    symmetric it must be said. A sum within 1e-9 of one is divided out and noted; other sums are refused.
    """
    matrix = _matrix(probabilities)
    by_state, notes = _oriented(matrix, states_in)
    rows, changed = _distributions(by_state, states)
    names = _labels(states, len(rows), "states")
    labels = _labels(outputs, len(rows[0]), "outputs")
    if changed:
        notes = (*notes, f"{changed} of {len(rows)} rows summed to one within 1e-9 only and were divided by their sum")
    channel = Channel(names, labels, tuple(zip(*rows, strict=True)))
    edges, relation = edges_between(names, neighbours, step)
    return FiniteMechanism(channel, edges, relation, name, notes)


def finite_of(mechanism: Mechanism) -> FiniteMechanism:
    """One of our own mechanisms on the states of its summary, with the graph derived from its problem."""
    edges = tuple((int(i), int(j)) for i, j in mechanism.space.edges.tolist())
    relation = f"{mechanism.problem.neighbours.name} neighbours, unit: {mechanism.problem.unit}"
    return FiniteMechanism(own_channel(mechanism), edges, relation, mechanism.problem.name)


def repeated(mechanism: FiniteMechanism, times: int) -> FiniteMechanism:
    """The mechanism used `times` times on the same database with fresh randomness, outputs told apart by how often each came.

    The order of outputs tells nothing more, so nothing is lost. Exact, and so only for few outputs and times.
    """
    kinds = len(mechanism.outputs)
    if times < 1 or comb(times + kinds - 1, kinds - 1) * len(mechanism.states) > MOST_ENTRIES:
        raise TooLarge(
            "Repeating this mechanism has too many outcomes to list",
            size=f"{times} times {kinds} outputs",
            fits=f"{MOST_ENTRIES:,} entries",
            remedy="compose it with discreet.currencies.compose",
        )
    counts = [tuple(drawn.count(k) for k in range(kinds)) for drawn in combinations_with_replacement(range(kinds), times)]
    labels = tuple(" ".join(f"{n}×{o}" for n, o in zip(count, mechanism.outputs, strict=True) if n) for count in counts)
    ways = [factorial(times) // prod(map(factorial, count)) for count in counts]
    rows = tuple(
        tuple(way * prod((p**n for p, n in zip(column, count, strict=True)), start=Fraction(1)) for column in mechanism.columns)
        for count, way in zip(counts, ways, strict=True)
    )
    channel = Channel(mechanism.states, labels, rows)
    return FiniteMechanism(channel, mechanism.edges, mechanism.relation, f"{mechanism.name} {times} times", mechanism.notes)


def edges_between(states: Sequence[str], neighbours: str | Pairs, step: int = 1) -> tuple[tuple[tuple[int, int], ...], str]:
    """The edges by position, and the relation in words."""
    if not isinstance(neighbours, str):
        return _listed_pairs(states, neighbours), "neighbours as listed"
    if neighbours == "all":
        if len(states) * (len(states) - 1) // 2 > MOST_EDGES:
            raise TooLarge(
                "There are too many pairs of states",
                size=f"{len(states):,} states",
                fits="about 2,800 states",
                remedy='say who is a neighbour: neighbours = "counts", or the pairs',
            )
        return tuple(combinations(range(len(states)), 2)), "every two states are neighbours"
    if neighbours == "listed":
        return tuple((i, i + 1) for i in range(len(states) - 1)), "states next to each other in the list are neighbours"
    if neighbours == "counts":
        return _count_edges(states, step), f"counts at most {step} apart are neighbours"
    raise InputError(
        "This relation between states is not known",
        found=neighbours,
        allowed=[*RELATIONS, "pairs of labels"],
        remedy="choose one of these",
    )


def _count_edges(states: Sequence[str], step: int) -> tuple[tuple[int, int], ...]:
    if step < 1:
        raise InputError("One respondent moves a count by at least one", found=str(step), allowed="1 or more", remedy="correct it")
    numbers = []
    for label in states:
        number = exact(label, f"the count {label!r}")
        if number.denominator != 1:
            raise InputError("A count is a whole number", found=label, allowed="whole numbers", remedy="choose other neighbours")
        numbers.append(number.numerator)
    low, high = min(numbers), max(numbers)
    missing = sorted(set(range(low, high + 1)) - set(numbers))[:5] if high - low < MOST_ENTRIES else [low + 1]
    if missing:
        raise InputError(
            "Counts are missing, and a neighbour may land on them",
            found=f"no row for {', '.join(map(str, missing))}",
            allowed=f"every count from {low} to {high}",
            remedy="complete the table, or list the pairs of neighbours",
        )
    place = {number: i for i, number in enumerate(numbers)}
    if len(place) < len(numbers):
        raise InputError("A count is listed twice", found="two rows of one count", allowed="one row each", remedy="merge them")
    return tuple(
        (place[number], place[number + far])
        for number in range(low, high + 1)
        for far in range(1, step + 1)
        if number + far in place
    )


def _listed_pairs(states: Sequence[str], pairs: Pairs) -> tuple[tuple[int, int], ...]:
    place = {label: i for i, label in enumerate(states)}
    found: dict[tuple[int, int], None] = {}
    for first, second in pairs:
        for end in (first, second):
            if end not in place:
                raise InputError(
                    "A pair of neighbours names a state that the table does not have",
                    found=str(end),
                    allowed=list(states[:8]),
                    remedy="correct the pair, or add the state",
                )
        if first == second:
            raise InputError("A state is paired with itself", found=str(first), allowed="two states", remedy="remove the pair")
        low, high = sorted((place[first], place[second]))
        found[low, high] = None
    return tuple(found)


def _matrix(probabilities: Any) -> list[list[Fraction]]:
    if hasattr(probabilities, "column_names"):  # an Arrow table
        probabilities = list(zip(*(column.to_pylist() for column in probabilities.columns), strict=True))
    values = probabilities.to_numpy() if hasattr(probabilities, "to_numpy") else probabilities
    if hasattr(values, "tolist"):
        short = values.dtype.kind == "f" and values.dtype.itemsize < 8
        # a short float stands for its own shortest decimal, not for that of the longer one it is widened to
        values = values.astype(str).tolist() if short else values.tolist()
    if not isinstance(values, (list, tuple)) or not values or not all(isinstance(row, (list, tuple)) for row in values):
        raise InputError(
            "A mechanism is a table of two axes",
            found=type(probabilities).__name__,
            allowed="rows of probabilities",
            remedy="give one row for each state",
        )
    if len({len(row) for row in values}) != 1 or not values[0]:
        raise InputError(
            "The rows of the table differ in length",
            found=f"lengths {sorted({len(row) for row in values})[:5]}",
            allowed="one length, at least 1",
            remedy="write 0 where an output is impossible",
        )
    if len(values) * len(values[0]) > MOST_ENTRIES:
        raise TooLarge(
            "This table has too many entries",
            size=f"{len(values):,} × {len(values[0]):,}",
            fits=f"{MOST_ENTRIES:,} entries",
            remedy="merge outputs, or give a part of the states",
        )
    return [
        [exact(p, f"the probability in row {i + 1}, column {j + 1}") for j, p in enumerate(row)] for i, row in enumerate(values)
    ]


def _oriented(matrix: list[list[Fraction]], states_in: str | None) -> tuple[list[list[Fraction]], tuple[str, ...]]:
    """The table with one row for each state."""
    turned = [list(column) for column in zip(*matrix, strict=True)]
    if states_in is not None:
        if states_in not in ("rows", "columns"):
            raise InputError("States stand in rows or in columns", found=states_in, allowed=["rows", "columns"], remedy="say which")
        return (matrix if states_in == "rows" else turned), ()
    in_rows, in_columns = (all(abs(sum(row) - 1) <= NEAR_ONE for row in table) for table in (matrix, turned))
    if in_rows and in_columns and matrix != turned:
        raise InputError(
            "Both the rows and the columns of this table sum to one, so it cannot be told which are the states",
            found=f"{len(matrix)} × {len(matrix[0])} probabilities",
            allowed=["rows", "columns"],
            remedy='say where the states are: states_in="rows" or "columns", or call the first column "state" or "output"',
        )
    if in_columns and not in_rows:
        return turned, ("States were taken to stand in columns, which sum to one",)
    return matrix, ()


def _distributions(by_state: list[list[Fraction]], states: Sequence[object] | None) -> tuple[list[tuple[Fraction, ...]], int]:
    rows, changed = [], 0
    for i, row in enumerate(by_state):
        label = states[i] if states is not None and i < len(states) else i
        done, divided = normalised(row, NEAR_ONE, what=f"the probabilities at state {label}")
        rows.append(done)
        changed += divided
    return rows, changed


def _labels(given: Sequence[object] | None, count: int, what: str) -> tuple[str, ...]:
    if given is None:
        return tuple(map(str, range(count)))
    names = tuple(format_exact(x) if isinstance(x, Fraction) else str(x).strip() for x in given)
    strange = next((name for name in names if not name or not name.isprintable()), None)
    if strange is not None:
        raise InputError(
            f"A name among the {what} is empty or holds characters that cannot be printed",
            found=repr(strange[:40]),
            allowed="printable names",
            remedy="rename it",
        )
    if len(names) != count or len(set(names)) != count:
        raise InputError(
            f"The names of the {what} do not fit the table",
            found=f"{len(names)} names, {len(set(names))} of them different",
            allowed=f"{count} different names",
            remedy="name each once",
        )
    return names
