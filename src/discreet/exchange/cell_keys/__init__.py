"""Cell keys: perturbation tables of statistical agencies, read, certified, improved and written in their own formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.exchange.cell_keys.designing import (
        Improvement,
        LeastEpsilon,
        TableDesign,
        design_table,
        entropy_table,
        improve,
        least_epsilon,
        wanted_table,
    )
    from discreet.exchange.cell_keys.perturbation import PerturbationTable
    from discreet.exchange.cell_keys.table_files import read_table, table_text, write_table

__all__ = [
    "Improvement",
    "LeastEpsilon",
    "PerturbationTable",
    "TableDesign",
    "design_table",
    "entropy_table",
    "improve",
    "least_epsilon",
    "read_table",
    "table_text",
    "wanted_table",
    "write_table",
]

_ROOMS = {
    "Improvement": "designing",
    "LeastEpsilon": "designing",
    "PerturbationTable": "perturbation",
    "TableDesign": "designing",
    "design_table": "designing",
    "entropy_table": "designing",
    "improve": "designing",
    "least_epsilon": "designing",
    "read_table": "table_files",
    "table_text": "table_files",
    "wanted_table": "designing",
    "write_table": "table_files",
}

__getattr__ = on_demand(__name__, _ROOMS)
