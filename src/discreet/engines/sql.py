"""The recoding and the keyed hash as SQL for DuckDB, with every name and text quoted.

Expressions are total: casts only try, numbers in text are matched before they are read, so that no value can make a
query fail. `discreet.model.recoding.Recoding.type_of` is the definition; the conformance suite holds them equal.
"""

from __future__ import annotations

from discreet.errors import InputError
from discreet.model.recoding import NUMBER, Bins, Recoding, Values

INTEGERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
}  # fmt: skip
TEXTS = {"VARCHAR", "BOOLEAN", "DATE", "UUID"}


def identifier(name: str) -> str:
    """A column or table name, quoted."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text, quoted. DuckDB knows no escapes inside single quotes but the doubled quote."""
    return "'" + text.replace("'", "''") + "'"


def kind_of(column: str, declared: str, *, identity: bool) -> str:
    """`integer`, `text` or `number`, from the type that the source declares; keys and units may not be numbers."""
    plain = declared.upper()
    if plain in INTEGERS:
        return "integer"
    if plain in TEXTS or plain.startswith("ENUM"):
        return "text"
    if not identity and (plain in ("FLOAT", "DOUBLE") or plain.startswith("DECIMAL")):
        return "number"
    allowed = "whole numbers, texts, booleans, dates" + ("" if identity else ", decimal numbers")
    raise InputError(
        f"Column {column!r} has a type that cannot be used here", found=declared, allowed=allowed,
        remedy="convert the column before publishing",
    )


def type_of(recoding: Recoding, column: str, kind: str) -> str:
    """The type of a value, as an expression over the column's (already quoted) name."""
    rule = recoding.rule
    text = f"CAST({column} AS VARCHAR)"
    missing = {
        "integer": f"{column} IS NULL",
        "number": f"({column} IS NULL OR isnan(CAST({column} AS DOUBLE)))",
        "text": f"({column} IS NULL OR {text} = '')",
    }[kind]
    if isinstance(rule, Values):
        inner = _listed(rule, column, kind, recoding.outside)
    else:
        number = f"CASE WHEN regexp_full_match({text}, {literal(NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) END"
        number = number if kind == "text" else f"CAST({column} AS DOUBLE)"
        if isinstance(rule, Bins):
            edges = rule.doubles
            steps = " + ".join(["0", *(f"CAST({number} >= {_double(edge)} AS SMALLINT)" for edge in edges[1:-1])])
            inside = f"{number} >= {_double(edges[0])} AND {number} < {_double(edges[-1])}"
            inner = f"CASE WHEN {inside} THEN {steps} ELSE {recoding.outside} END"
        else:
            x = column if kind == "integer" else number
            step = f"{x} - ({rule.low})" if kind == "integer" else f"floor({x}) - ({rule.low})"
            inner = (
                f"CASE WHEN {x} <= {rule.low} THEN 0 WHEN {x} >= {rule.high} THEN {rule.types - 1} "
                f"WHEN {x} IS NULL THEN {recoding.outside} ELSE TRY_CAST({step} AS SMALLINT) END"
            )
    return f"CAST(CASE WHEN {missing} THEN {recoding.missing} ELSE {inner} END AS SMALLINT)"


def _listed(rule: Values, column: str, kind: str, outside: int) -> str:
    if kind == "integer":
        branches = [f"WHEN {column} = {number} THEN {j}" for number, j in rule.integers]
    elif kind == "number":
        branches = [f"WHEN CAST({column} AS DOUBLE) = {_double(number)} THEN {j}" for number, j in rule.numbers]
    else:
        text = f"CAST({column} AS VARCHAR)"
        branches = [f"WHEN {text} = {literal(listed)} THEN {j}" for listed, j in rule.texts]
    return f"CASE {' '.join(branches)} ELSE {outside} END" if branches else str(outside)


def _double(number: float) -> str:
    return f"CAST('{number!r}' AS DOUBLE)"
