"""What the browser is given: vendored scripts exactly as published, with licence and version, small, and kept for ever."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from serving import Visitor

import discreet.web
from discreet.web.assets import OURS, VENDORED, address, asset

HERE = Path(discreet.web.__file__).parent


def test_vendored_scripts_are_as_published_and_named_with_version_and_licence() -> None:
    words = (HERE / "vendor" / "README.md").read_text(encoding="utf-8")
    files = {place.name for place in (HERE / "vendor").iterdir()} - {"README.md"}
    assert files == {file for file, _ in VENDORED.values()}
    for file, digest in VENDORED.values():
        assert hashlib.sha256(gzip.decompress((HERE / "vendor" / file).read_bytes())).hexdigest() == digest, file
        line = next(line for line in words.splitlines() if f"`{file}`" in line)
        assert "BSD" in line and file.split("-")[-1].removesuffix(".min.js.gz") in line


def test_scripts_hold_no_address_that_is_asked_and_pages_ask_for_little(visitor: Visitor) -> None:
    page = visitor.get("/", accept_encoding="gzip")
    weight = len(page.body)
    for name in (*OURS, *VENDORED):
        found = visitor.get(address(name), accept_encoding="gzip")
        assert found.status == 200 and "immutable" in found.headers["cache-control"]
        assert gzip.decompress(found.body) == asset(name).whole
        weight += len(found.body)
    assert weight < 400_000 and 1 + len(OURS) + len(VENDORED) <= 12
    assert visitor.get(address("htmx.js").replace(asset("htmx.js").tag, "0" * 12)).status == 404


def test_our_script_runs_without_eval() -> None:
    text = (HERE / "static" / "workbench.js").read_text(encoding="utf-8")
    assert "eval(" not in text and "new Function" not in text and "innerHTML" not in text and "ast: true" in text
