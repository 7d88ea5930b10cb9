"""A key set: every cell of a table that will be published, with its size, fixed before the data is seen.

A cell is named by one text for each key column and has a size n_c ≥ 1, the number of respondents it is published for.
Cells are compared as text: a whole number stands for its decimal digits ("7", not "07"), a date for "2026-01-31", a
boolean for "true" or "false". Rows whose keys are missing, empty or not listed belong to no cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from discreet.errors import InputError, TooLarge

MOST_CELLS = 20_000_000
LARGEST_SIZE = 2**40


@dataclass(frozen=True)
class KeySet:
    """Key columns, the cells in order, and their sizes."""

    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) != len(self.columns) or not all(self.columns):
            raise InputError(
                "A key set needs key columns with different names",
                found=", ".join(self.columns) or "none",
                allowed="one or more different names",
                remedy="name the columns that tell cells apart",
            )
        if not self.cells or len(self.cells) != len(self.sizes):
            raise InputError(
                "A key set lists cells, each with its size",
                found=f"{len(self.cells)} cells, {len(self.sizes)} sizes",
                allowed="at least one cell, one size for each",
                remedy="complete the key set",
            )
        if len(self.cells) > MOST_CELLS:
            raise TooLarge("the key set", size=f"{len(self.cells):,} cells", fits=f"{MOST_CELLS:,} cells")
        if not self._in_order():
            self._complain()
        if len(self.position) != len(self.cells):
            twice = next(cell for i, cell in enumerate(self.cells) if self.position[cell] != i)
            raise InputError(
                "A cell is listed twice in the key set",
                found=" / ".join(twice),
                allowed="each cell once",
                remedy="remove the repetition",
            )

    def _in_order(self) -> bool:
        """Whether every cell and size is valid: looked at all together, since there may be millions."""
        names = set(chain.from_iterable(self.cells))
        return (
            set(map(len, self.cells)) == {len(self.columns)}
            and set(map(type, names)) == {str}
            and "" not in names
            and not any("\0" in name for name in names)
            and set(map(type, self.sizes)) == {int}
            and 1 <= min(self.sizes) <= max(self.sizes) <= LARGEST_SIZE
        )

    def _complain(self) -> None:
        """Find the first cell that is not in order and say so."""
        width = len(self.columns)
        for cell, size in zip(self.cells, self.sizes, strict=True):
            if len(cell) != width or not all(isinstance(key, str) and key and "\0" not in key for key in cell):
                raise InputError(
                    "A cell of the key set is not one text for each key column",
                    found=" / ".join(map(str, cell)),
                    allowed=f"{width} texts that are not empty",
                    remedy="correct that line of the key set",
                )
            if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= LARGEST_SIZE:
                raise InputError(
                    f"The size of cell {' / '.join(cell)} is not a number of respondents",
                    found=str(size),
                    allowed=f"whole numbers from 1 to {LARGEST_SIZE:,}",
                    remedy="correct that line of the key set",
                )

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def position(self) -> dict[tuple[str, ...], int]:
        """The place of each cell in the order."""
        return {cell: i for i, cell in enumerate(self.cells)}
