"""Plan files and key sets: read, written back, hashed, refused in words."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.files.canonical import document_hash
from discreet.files.plan import (
    key_set_hash,
    located,
    plan_document,
    plan_from_document,
    plan_hash,
    read_key_set,
    read_plan,
)
from discreet.model.plan import Plan

PLAN = """
dataset = "households 2026"
mechanism = "places.family.json"

[source]
kind = "parquet"
path = "households.parquet"

[cells]
keys = ["county", "block"]
key_set = "blocks.csv"

[recoding]
column = "children"
kind = "bounds"
low = 0
high = 2
missing = 0
outside = 0
absent = 0

[unit]
name = "household"
protects = "presence"

[budget]
population = "households"
most = 1.5
"""


def written(folder: Path, text: str, name: str = "plan.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def plan(folder: Path, text: str = PLAN) -> Plan:
    return read_plan(written(folder, text))


def test_a_plan_is_read_and_its_document_reads_back(tmp_path: Path) -> None:
    found = plan(tmp_path)
    assert found.keys == ("county", "block") and found.most == Fraction(3, 2) and found.recoding.types == 3
    assert plan_from_document(plan_document(found)) == found
    assert plan_hash(found) == plan_hash(plan_from_document(plan_document(found)))


@pytest.mark.parametrize("rule", [
    'kind = "bins"\nedges = [0, 0.5, "7/3"]', 'kind = "values"\nvalues = [["none", 0], ["one"], ["two", "three"]]',
])  # fmt: skip
@pytest.mark.parametrize("source", [
    'kind = "postgres"\nenvironment = "DB"\ntable = "a.b"', 'kind = "duckdb"\npath = "x.db"\ntable = "t"',
    'kind = "frame"',
])  # fmt: skip
def test_every_rule_and_source_reads_back(tmp_path: Path, rule: str, source: str) -> None:
    text = PLAN.replace('kind = "bounds"\nlow = 0\nhigh = 2', rule)
    text = text.replace('kind = "parquet"\npath = "households.parquet"', source)
    found = plan(tmp_path, text)
    assert plan_from_document(plan_document(found)) == found


def test_one_changed_line_changes_the_hash(tmp_path: Path) -> None:
    hashes = {
        plan_hash(plan(tmp_path, text))
        for text in (PLAN, PLAN.replace("high = 2", "high = 3"), PLAN.replace('"presence"', '"moves"'),
                     PLAN.replace("most = 1.5", "most = 1.6"), PLAN.replace('"block"]', '"blocks"]'))
    }  # fmt: skip
    assert len(hashes) == 5


def test_paths_are_taken_from_the_plans_folder_and_the_hash_is_not(tmp_path: Path) -> None:
    found = plan(tmp_path)
    there = located(found, tmp_path)
    assert there.source.location == str(tmp_path / "households.parquet")
    assert there.key_set == str(tmp_path / "blocks.csv")
    assert plan_hash(found) != plan_hash(there)


@pytest.mark.parametrize(("old", "new", "words"), [
    ("absent = 0\n", "", "recoding.absent"),
    ("low = 0", "lo = 0", "did you mean 'low'"),
    ("high = 2\n", "", "add recoding.high"),
    ("high = 2", "high = 2\nedges = [0, 1]", "remove recoding.edges"),
    ('keys = ["county", "block"]', 'keys = ["county", "county"]', "different names"),
    ('keys = ["county", "block"]', 'keys = ["county", "children"]', "also the recoded column"),
    ("missing = 0", "missing = 9\ntypes = 3", "recoding.missing is not a type"),
    ('protects = "presence"', 'protects = "everything"', "protects"),
    ('protects = "presence"', 'at_most = 2', "unit.column"),
    ('key_set = "blocks.csv"', 'key_set = "blocks.csv"\npadding = false', "public_membership"),
    ('path = "households.parquet"', 'environment = "X"', "environment"),
    ("most = 1.5", "most = 0", "budget.most"),
    ("[budget]", "[budget", "not valid TOML"),
])  # fmt: skip
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in PLAN
    with pytest.raises(InputError, match="(?i)" + words.replace("[", r"\[")):
        plan(tmp_path, PLAN.replace(old, new))


def test_without_padding_public_membership_and_values_are_needed(tmp_path: Path) -> None:
    public = 'key_set = "blocks.csv"\npadding = false\npublic_membership = ["county", "block"]'
    text = PLAN.replace('key_set = "blocks.csv"', public)
    with pytest.raises(InputError, match="only values"):
        plan(tmp_path, text)
    assert plan(tmp_path, text.replace('"presence"', '"values"')).exposures[0].protects == "values"


def test_a_key_set_is_read_in_any_order_of_columns(tmp_path: Path) -> None:
    p = plan(tmp_path)
    path = written(tmp_path, '\ufeffsize,block,county\n20,1,"a ""b"", c"\n\n21,002,x\n', "blocks.csv")
    found = read_key_set(path, p)
    assert found.cells == (('a "b", c', "1"), ("x", "002")) and found.sizes == (20, 21)
    other = read_key_set(written(tmp_path, "county,block,size\nx,002,21\n", "other.csv"), p)
    assert key_set_hash(found) != key_set_hash(other)
    document = {"columns": list(other.columns), "cells": [list(c) for c in other.cells], "sizes": list(other.sizes)}
    assert key_set_hash(other) == document_hash(document)


@pytest.mark.parametrize(("text", "words"), [
    ("", "columns are not those"),
    ("county,block\nx,1\n", "columns are not those"),
    ("county,block,size\nx,1\n", "line 2"),
    ("county,block,size\nx,1,20\nx,1,21\n", "listed twice"),
    ("county,block,size\nx,1,-3\n", "line 2"),
    ("county,block,size\nx,1,0\n", "size of cell x / 1"),
    ("county,block,size\nx,1,२०\n", "line 2"),
    ("county,block,size\nx,,20\n", "not one text"),
    ("county,block,size\n", "lists cells"),
    ('county,block,size\n"x"y,1,2\n', "not well-formed"),
])  # fmt: skip
def test_a_key_set_in_disorder_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_key_set(written(tmp_path, text, "blocks.csv"), plan(tmp_path))


def test_a_key_set_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "blocks.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not text"):
        read_key_set(tmp_path / "blocks.csv", plan(tmp_path))
