"""The recoding and the keyed hash as SQL for DuckDB, with every name and text quoted.

Expressions are total: casts only try, numbers in text are matched before they are read, so that no value can make a
query fail. `discreet.model.recoding.Recoding.type_of` is the definition; the conformance suite holds them equal.
"""

from __future__ import annotations

from discreet.errors import InputError
from discreet.model.recoding import GAP, NUMBER, Bins, Recoding, Rule, Values

INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
HUGE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
TEXTS = {"VARCHAR", "BOOLEAN", "UUID"}
FIRST_DAY, LAST_DAY = "0001-01-01", "9999-12-31"
"""Days that every engine writes alike; others, and infinity, are U+FFFD."""


def identifier(name: str) -> str:
    """A column or table name, quoted."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text, quoted. DuckDB knows no escapes inside single quotes but the doubled quote."""
    return "'" + text.replace("'", "''") + "'"


def read_as(name: str, column: str, declared: str, rule: Rule | None) -> tuple[str, str]:
    """The kind in which a column is read (`integer`, `text`, `number`) and the expression that does so.

    `rule` is that of the recoded column; keys and units have none, are told apart exactly, and may not be decimals.
    """
    plain = declared.upper()
    text = f"CAST({column} AS VARCHAR)"
    if plain in INTEGERS:
        return "integer", column
    if plain in HUGE:
        return ("text", text) if rule is None or isinstance(rule, Values) else ("number", f"CAST({column} AS DOUBLE)")
    if plain in TEXTS or plain.startswith("ENUM"):
        return "text", text
    if plain == "DATE":
        usual = f"{column} BETWEEN DATE '{FIRST_DAY}' AND DATE '{LAST_DAY}'"
        return "text", f"CASE WHEN {usual} THEN {text} WHEN {column} IS NOT NULL THEN chr(65533) END"
    if rule is not None and plain in ("FLOAT", "DOUBLE"):
        return "number", f"CAST({column} AS DOUBLE)"
    if rule is not None and plain.startswith("DECIMAL"):
        # Through its digits, since a division by a power of ten would round twice.
        return "number", f"CAST({text} AS DOUBLE)"
    allowed = "whole numbers, texts, booleans, dates" + ("" if rule is None else ", decimal numbers")
    raise InputError(
        f"Column {name!r} has a type that cannot be used here",
        found=declared,
        allowed=allowed,
        remedy="convert the column before publishing",
    )


def type_of(recoding: Recoding, column: str, kind: str) -> str:
    """The type of a value, as an expression over the column's (already quoted) name."""
    rule = recoding.rule
    text = f"CAST({column} AS VARCHAR)"
    missing = {
        "integer": f"{column} IS NULL",
        "number": f"({column} IS NULL OR isnan(CAST({column} AS DOUBLE)))",
        "text": f"({column} IS NULL OR (regexp_full_match({text}, {literal(GAP)}){_unless(text, recoding.listed_gaps)}))",
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
            inner = (
                f"CASE WHEN {number} <= {rule.low} THEN 0 WHEN {number} >= {rule.high} THEN {rule.types - 1} "
                f"WHEN {number} IS NULL THEN {recoding.outside} ELSE TRY_CAST(floor({number}) - ({rule.low}) AS SMALLINT) END"
            )
            if kind == "integer":
                inner = f"greatest({rule.low}, least({rule.high}, CAST({column} AS BIGINT))) - ({rule.low})"
    return f"CAST(CASE WHEN {missing} THEN {recoding.missing} ELSE {inner} END AS SMALLINT)"


def _unless(text: str, listed: tuple[str, ...]) -> str:
    return f" AND {text} NOT IN ({', '.join(map(literal, listed))})" if listed else ""


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
