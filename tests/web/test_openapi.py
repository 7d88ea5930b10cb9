"""The OpenAPI document lists every twin and every change, and whatever is asked within it or beside it is answered as it says."""

from __future__ import annotations

import json
import random
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from jsonschema import Draft202012Validator
from serving import SMALL, Visitor

from discreet.web.openapi import CHANGES, TWINS, openapi

HOSTILE = (
    "", "0", "-1", "1", "1/2", "0.5", "1e9", "9" * 400, "NaN", "inf", "1/0", "é", "\x00", "../../etc/passwd", "<script>",
    "[prior]", '[prior]\nkind = "iid"\nprobabilities = [0.5, 0.5]', "school-places", "%s%n", "{{7*7}}", "a" * 1500, "-", "mean",
)  # fmt: skip
COUNT = 90


def test_the_document_lists_every_twin_and_every_change(visitor: Visitor) -> None:
    document = visitor.get("/openapi.json").json
    assert document == json.loads(json.dumps(openapi()))
    inner = visitor.served.app.app.app  # type: ignore[attr-defined]
    twins = {r.path for r in inner.routes if r.path.endswith(".json") and "GET" in r.methods}
    assert twins - {"/openapi.json", "/jobs/{name}/figures/{place:int}.json"} == {twin.path for twin in TWINS}
    assert {r.path for r in inner.routes if "POST" in (r.methods or ())} == set(CHANGES)
    for path in document["paths"].values():
        for way in path.values():
            for answer in way["responses"].values():
                Draft202012Validator.check_schema(answer["content"]["application/json"]["schema"])


def held(visitor: Visitor, path: str, found: Any, way: dict[str, Any]) -> None:
    """The answer is one that the document allows for this address."""
    assert str(found.status) in way["responses"] and found.status != 500, (path, found.status, found.text[:300])
    schema = way["responses"][str(found.status)]["content"]["application/json"]["schema"]
    Draft202012Validator(schema).validate(found.json)
    assert "Traceback" not in found.text


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_asked_is_answered_as_the_document_says(visitor: Visitor, design: str, seed: int) -> None:
    rng = random.Random(seed)
    names = [design, visitor.keep(SMALL), "0123456789abcdef", "f" * 16]
    for _ in range(COUNT // 2):
        twin = rng.choice(TWINS)
        path = twin.path.replace("{name}", rng.choice(names) if rng.random() < 0.9 else quote(rng.choice(HOSTILE), safe="") or "x")
        asked = [(name, rng.choice(HOSTILE)) for name in twin.query if rng.random() < 0.7]
        found = visitor.get(f"{path}?{urlencode(asked)}" if asked else path)
        if found.status != 404 or found.headers.get("content-type") == "application/json":
            held(visitor, path, found, openapi()["paths"][twin.path]["get"])


def test_whatever_is_posted_is_answered_as_the_document_says(visitor: Visitor, design: str) -> None:
    rng = random.Random(5)
    for _ in range(COUNT // 3):
        path, (_, fields) = rng.choice(list(CHANGES.items()))
        if path == "/problem/check":
            fields = (*fields, "epsilon", "values", "respondents")
        named = path.replace("{name}", rng.choice([design, "0123456789abcdef"]))
        told = {name: rng.choice(HOSTILE) for name in fields if rng.random() < 0.6}
        held(visitor, path, visitor.post(named, told), openapi()["paths"][path]["post"])
    for body in (b"{", b"[]", b'{"a": []}', b"\xff", b"a=1&" * 100):
        found = visitor.ask("POST", "/problem", body, accept="application/json", content_type="application/json")
        assert found.status in (403, 422), found.text


def test_the_served_facts_fit_the_schemas_of_the_command_line(visitor: Visitor, design: str) -> None:
    for path, way in (("/design/{name}.json", "design"), ("/design/{name}/reading.json", "reading")):
        found = visitor.get(path.replace("{name}", design))
        assert found.status == 200, way
        held(visitor, path, found, openapi()["paths"][path]["get"])
