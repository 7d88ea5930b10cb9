"""Reading and writing perturbation tables: the format is told from the content, and said when writing.

| format | written by | read by |
|---|---|---|
| `tau-argus`, `sas` | `ptable::pt_export` | Tau-Argus, SAS |
| `cellkey` | `cellKey::ck_params_cnts` | `cellKey::ck_read_yaml` |
| `ons` | the Office for National Statistics | `cell_key_perturbation` |
"""

from __future__ import annotations

from pathlib import Path

from discreet.errors import InputError, suggest
from discreet.exchange.cell_keys.cellkey_yaml import from_cellkey, is_cellkey, to_cellkey
from discreet.exchange.cell_keys.ons_csv import KEYS, from_ons, is_ons, to_ons
from discreet.exchange.cell_keys.perturbation import PerturbationTable
from discreet.exchange.cell_keys.ptable_text import from_ptable, is_ptable, to_ptable
from discreet.exchange.delimited import parse_delimited, read_text
from discreet.files.atomic import write_atomically

FORMATS = ("tau-argus", "sas", "cellkey", "ons")


def read_table(path: Path, encoding: str | None = None) -> PerturbationTable:
    """The perturbation table in a file of any of the formats."""
    place = Path(path)
    text = read_text(place, encoding)
    if is_cellkey(text):
        return from_cellkey(text, place.name, place.stem)
    table = parse_delimited(text, place.name)
    if is_ptable(table):
        return from_ptable(table, place.stem)
    if is_ons(table):
        return from_ons(table, place.stem)
    raise InputError(
        f"{place.name} is no perturbation table that is known here",
        found=f"columns {', '.join(table.header[:8])}",
        allowed="i, j, p, v, p_int_ub (ptable); pcv, ckey, pvalue (ONS); a YAML file of cellKey",
        remedy="export the table in one of these formats; any other table of probabilities can be given to discreet check",
    )


def table_text(table: PerturbationTable, form: str) -> str:
    """The table as text of a format."""
    if form not in FORMATS:
        near = suggest(form, FORMATS)
        raise InputError(
            "This format of perturbation tables is not known",
            found=form,
            allowed=FORMATS,
            remedy=f"did you mean {near}?" if near else "choose one of these",
        )
    if form == "cellkey":
        return to_cellkey(table)
    return to_ons(table, KEYS) if form == "ons" else to_ptable(table, form)


def write_table(table: PerturbationTable, path: Path, form: str = "tau-argus") -> None:
    """Write the table, wholly or not at all."""
    write_atomically(Path(path), table_text(table, form).encode())
