"""The OpenAPI document of the JSON twins: every address with its parameters and what it answers, from one table.

Facts follow the schemas of the command line (`views.schema`); a twin that wraps them in more (the state of a design, a table beside
a verification) says so by allowing more keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from discreet import __version__
from discreet.views.schema import schema, schema_names

TEXT: dict[str, Any] = {"type": "string", "maxLength": 2000}
NUMBER: dict[str, Any] = {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+|/[0-9]+)?$"}
PLACE: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
NAME: dict[str, Any] = {"type": "string", "pattern": "^[0-9a-f]{16}$"}


@dataclass(frozen=True)
class Twin:
    """One address: what it holds, the parameters of its query, and the command whose facts it shows."""

    path: str
    summary: str
    query: dict[str, dict[str, Any]] = field(default_factory=dict)
    facts: str | None = None


TWINS = (
    Twin("/index.json", "Examples, and what a restart lost"),
    Twin("/problem.json", "An example, or a new problem, with what it says", {"example": TEXT}),
    Twin("/problem/learned.json", "The priors that follow from a learning release",
         {"from": NAME, "change": NUMBER, "of_stratum": PLACE}),
    Twin("/problem/{name}.json", "A problem that is kept"),
    Twin("/designs.json", "What was designed"),
    Twin("/design/{name}.json", "A design, or how far it has come", facts="design"),
    Twin("/design/{name}/reading.json", "What a published value means", {"output": TEXT, "level": NUMBER, "prior": TEXT}, "read"),
    Twin("/design/{name}/guarantees.json", "What is promised, in every currency",
         {"sure": NUMBER, "delta": NUMBER, "size": PLACE}),
    Twin("/design/{name}/regret.json", "What following costs under wrong priors, against the best for each", {"radius": TEXT}),
    Twin("/frontier/{name}.json", "The frontier of a problem, as far as it is solved",
         {"epsilon": NUMBER, "rho": NUMBER, "loss": NUMBER}, "frontier"),
    Twin("/frontier/{name}/at.json", "What points prove at a level, or which level a loss needs",
         {"epsilon": NUMBER, "rho": NUMBER, "loss": NUMBER}),
    Twin("/releases.json", "Releases and ledgers of the served folder"),
    Twin("/releases/{name}.json", "What holds of a release, and its cells",
         {"key": TEXT, "search": TEXT, "sort": TEXT, "page": PLACE}, "verify"),
    Twin("/releases/{name}/cell.json", "One cell", {"place": PLACE}, "read"),
    Twin("/releases/{name}/total.json", "The total of chosen cells", {"cell": PLACE}, "total"),
    Twin("/ledgers/{name}.json", "What is left of each budget, and every entry", facts="ledger.show"),
    Twin("/gallery.json", "The pictures that there are"),
    Twin("/gallery/{name}.json", "One picture in words"),
    Twin("/jobs.json", "What is being worked on, waits, or was lost"),
    Twin("/form-word.json", "The word that every change carries"),
)  # fmt: skip

CHANGES = {
    "/problem": (
        "Keep a problem, and perhaps begin its design",
        ("toml", "written", "then", "gap", "seconds", "hedge", "never", "sizes"),
    ),
    "/problem/check": ("What a problem says, without keeping it", ("toml", "written")),
    "/design": ("Begin a design", ("problem", "gap", "seconds", "hedge", "never", "sizes", "at_epsilon")),
    "/frontier/{name}": ("Go on refining, here first", ("epsilon", "rho")),
    "/jobs/{name}/stop": ("Stop, and keep what is certified", ()),
    "/jobs/{name}/again": ("Ask again", ()),
}
"""What is posted where: what for, and the fields; each also carries form_word."""
CODES = {
    "200": "The facts",
    "202": "Not answered yet: ask again",
    "404": "There is no such thing",
    "422": "Refused in words",
    "500": "Something went wrong",
    "503": "Too much is waiting",
}
ERROR: dict[str, Any] = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}


def openapi() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {twin.path: {"get": _got(twin)} for twin in TWINS}
    for path, (summary, fields) in CHANGES.items():
        paths.setdefault(path, {})["post"] = _posted(path, summary, fields)
    return {
        "openapi": "3.1.0",
        "info": {"title": "discreet workbench", "version": __version__, "description": "The JSON twins of the workbench's pages."},
        "paths": paths,
        "components": {"schemas": {"error": ERROR}},
    }


def _got(twin: Twin) -> dict[str, Any]:
    query = [{"name": name, "in": "query", "required": False, "schema": kind} for name, kind in twin.query.items()]
    known = twin.facts if twin.facts in schema_names() else None
    named = {"$id": f"urn:discreet:{known}", "additionalProperties": True}  # a name, so that its own #/$defs are meant
    facts = {"type": "object"} if known is None else {**schema(str(known)), **named}
    answers = {code: _answer(words, facts if code in ("200", "202") else ERROR) for code, words in CODES.items()}
    if twin.facts in ("design", "frontier"):  # what has not ended has fewer facts
        answers["200"] = _answer(CODES["200"], {"anyOf": [facts, {"type": "object", "required": ["state"]}]})
    return {"summary": twin.summary, "parameters": [*_names(twin.path), *query], "responses": answers}


def _posted(path: str, summary: str, fields: tuple[str, ...]) -> dict[str, Any]:
    body = {
        "type": "object", "required": ["form_word"],
        "properties": {"form_word": {"type": "string"}, **{name: {"type": "string"} for name in fields}},
    }  # fmt: skip
    answers = {code: _answer(words, ERROR if code > "300" else {"type": "object"}) for code, words in CODES.items()}
    answers["201"] = _answer("Done; `address` says where it is seen", {"type": "object"})
    answers["403"] = _answer("Not from a page of ours", ERROR)
    content = {kind: {"schema": body} for kind in ("application/x-www-form-urlencoded", "application/json")}
    return {"summary": summary, "parameters": _names(path), "requestBody": {"content": content}, "responses": answers}


def _names(path: str) -> list[dict[str, Any]]:
    kind = TEXT if path.startswith("/gallery") else NAME
    return [{"name": name, "in": "path", "required": True, "schema": kind} for name in re.findall(r"\{(\w+)\}", path)]


def _answer(words: str, facts: dict[str, Any]) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": facts}}}
