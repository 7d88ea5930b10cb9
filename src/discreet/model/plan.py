"""A plan: which table is published from which data, with what, and what exactly is promised to whom.

Every row of a listed cell is one respondent. With padding each cell is held at its declared size n_c: short cells are
filled with the type `absent`, long ones cut. Then, for a mechanism that keeps a promise under replace-one,

    values     the values of one unit change, its cells do not              k edges in all
    presence   one unit is added or removed                                 k edges in all
    moves      one unit changes in any way, cells included                  2k edges, at most k in each cell

where a unit has at most k rows. An edge is one replacement in one cell; all k in one cell is the worst, and what a
promise grows to over them it knows itself. Moves cost twice that: the worst is k edges in each of two cells.
Without padding, membership must be public, and only values are protected.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.model.promises import Promise
from discreet.model.recoding import Recoding

SOURCES = ("parquet", "csv", "duckdb", "postgres", "frame")
PROTECTS = {
    "values": "the values of one {unit}, the cells it is in being public",
    "presence": "whether one {unit} is in the data, and its values",
    "moves": "everything about one {unit}: presence, values and which cells it is in",
}
MOST_ROWS = 1000


@dataclass(frozen=True)
class Source:
    """Where the rows are: a file, a table in a DuckDB file, a PostgreSQL table, or a frame handed over in memory.

    `location` is a path; for PostgreSQL it names an environment variable that holds the connection string, so that no
    password stands in a plan.
    """

    kind: str
    location: str = ""
    table: str = ""

    @property
    def on_disk(self) -> bool:
        """Whether `location` is the path of a file."""
        return self.kind in ("parquet", "csv", "duckdb")

    def __post_init__(self) -> None:
        if self.kind not in SOURCES:
            raise InputError("The source is of an unknown kind", found=self.kind, allowed=SOURCES, remedy="set source.kind")
        needs = {"parquet": "path", "csv": "path", "duckdb": "path", "postgres": "environment"}.get(self.kind)
        if needs and (not self.location or "\0" in self.location):
            raise InputError(
                f"A {self.kind} source needs source.{needs}",
                found="nothing",
                allowed="text",
                remedy=f"add source.{needs}",
            )
        if self.kind in ("duckdb", "postgres") and (not self.table or "\0" in self.table):
            raise InputError(
                f"A {self.kind} source needs source.table",
                found="nothing",
                allowed="the name of a table",
                remedy="add source.table",
            )


@dataclass(frozen=True)
class Unit:
    """Who is protected: the rows that share a value of `column`, at most `at_most` of them; or each row by itself."""

    name: str
    column: str | None = None
    at_most: int = 1

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError(
                "The privacy unit has no name",
                found="nothing",
                allowed="who is protected, in words",
                remedy='set unit.name, for instance "household"',
            )
        if self.column is not None and (not self.column or "\0" in self.column):
            raise InputError(
                "The plan's unit.column names no column",
                found="an empty name",
                allowed="the name of a column, or no such line",
                remedy="name the column that tells units apart",
            )
        if not 1 <= self.at_most <= MOST_ROWS or (self.column is None and self.at_most != 1):
            raise InputError(
                "The number of rows of a unit is out of range",
                found=str(self.at_most),
                allowed=f"1 to {MOST_ROWS}; 1 when each row is a unit",
                remedy="set unit.at_most, or add unit.column",
            )


@dataclass(frozen=True)
class Exposure:
    """How far one unit reaches, as edges: at most `rows` in each of `cells` cells."""

    protects: str
    unit: str
    rows: int
    cells: int

    def of(self, promise: Promise) -> Promise:
        """What a unit is promised when each cell is published under a promise to respondents."""
        return promise.over(self.rows, self.cells)

    def __str__(self) -> str:
        return f"{self.protects}: {PROTECTS[self.protects].format(unit=self.unit)}"


@dataclass(frozen=True)
class Learning:
    """Such a plan publishes what a prior needs, not its cells: pooled numbers for each stratum (learning.questions)."""

    strata: tuple[str, ...] = ()
    kinds: bool = False
    """Whether cells are also asked of what kinds they are."""


@dataclass(frozen=True)
class Plan:
    """Everything that is fixed before the data is opened.

    `learned` is the folder of the learning release that the prior of the plan's mechanisms follows from.
    """

    dataset: str
    source: Source
    keys: tuple[str, ...]
    key_set: str
    recoding: Recoding
    unit: Unit
    mechanism: str
    population: str
    padding: bool = True
    protects: str = "values"
    public_membership: tuple[str, ...] = ()
    size_column: str = "size"
    ledger: str = ""
    most: Fraction | None = None
    learning: Learning | None = None
    learned: str = ""

    def __post_init__(self) -> None:
        if self.learning is not None and (self.learned or not set(self.learning.strata) <= set(self.keys)):
            raise InputError(
                "A plan to learn from publishes pooled numbers by some of its own keys, under no prior",
                found=f"strata {', '.join(self.learning.strata) or 'none'}{', and a learned prior' if self.learned else ''}",
                allowed=f"strata among {', '.join(self.keys)}",
                remedy="correct learning.strata, or remove one of learning and learned",
            )
        for name in ("dataset", "key_set", "mechanism", "population", "size_column"):
            if not getattr(self, name).strip():
                raise InputError(f"The plan lacks {name}", found="nothing", allowed="text", remedy=f"set {name}")
        if not self.keys or len(set(self.keys)) != len(self.keys) or not all(k and "\0" not in k for k in self.keys):
            raise InputError(
                "The plan's key columns are not different names",
                found=", ".join(self.keys) or "none",
                allowed="one or more different names",
                remedy="set cells.keys",
            )
        if self.recoding.column in self.keys or self.unit.column in self.keys:
            raise InputError(
                "A key column is also the recoded column or the unit",
                found=", ".join(self.keys),
                allowed="keys are public, values and units are not",
                remedy="use different columns",
            )
        if self.size_column in self.keys:
            raise InputError(
                "The key set's column of sizes is also a key",
                found=self.size_column,
                allowed="a name of its own",
                remedy="set cells.size",
            )
        if self.most is not None and self.most <= 0:
            raise InputError("The plan's budget.most is not positive", found=str(self.most), allowed="above 0", remedy="correct it")
        self._check_protection()

    def _check_protection(self) -> None:
        if self.protects not in PROTECTS:
            raise InputError(
                "The plan does not say what it protects",
                found=self.protects,
                allowed=list(PROTECTS),
                remedy="set unit.protects",
            )
        if self.padding and self.recoding.absent is None:
            raise InputError(
                "Cells that are held at their size need a type for respondents who are not there",
                found="no recoding.absent",
                allowed=f"0 to {self.recoding.types - 1}",
                remedy="declare recoding.absent",
            )
        if self.padding:
            return
        private = [key for key in self.keys if key not in self.public_membership]
        if private:
            raise InputError(
                "Without padding, how many rows each cell has is not protected",
                found=f"{', '.join(private)} not declared",
                allowed="every key column in cells.public_membership",
                remedy="declare them if membership is public knowledge, or set cells.padding = true",
            )
        if self.protects != "values":
            raise InputError(
                "Without padding only values are protected",
                found=f"unit.protects = {self.protects!r}",
                allowed="'values'",
                remedy="set cells.padding = true, or promise less",
            )

    @property
    def exposure(self) -> Exposure:
        """What the plan protects."""
        return self._exposure(self.protects)

    @property
    def exposures(self) -> tuple[Exposure, ...]:
        """Everything that the plan's rules would allow to protect, the chosen one among them."""
        return tuple(self._exposure(kind) for kind in (PROTECTS if self.padding else ("values",)))

    def _exposure(self, protects: str) -> Exposure:
        cells = 2 if protects == "moves" else 1
        if self.learning is not None:
            # two cells of a move may be pooled in one number, which then moves twice as far
            return Exposure(protects, self.unit.name, self.unit.at_most * cells, 1)
        return Exposure(protects, self.unit.name, self.unit.at_most, cells)
