"""verify.html in a browser, offline: the verdicts of the Python verifier on mutated files, a release folder, and a forged one."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from browsing import started
from counted_mechanisms import forged_counted
from playwright.sync_api import Page, expect
from the_verifier import many_members
from towns import Town, make_town
from unbiased_documents import unbiased_documents

import scripts

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "src" / "discreet" / "verify.html"
COUNT = 300
pytestmark = pytest.mark.needs_chromium


@pytest.fixture(scope="module")
def offline() -> Iterator[Page]:
    """The page opened from the disk, in a browser without a network."""
    with started() as browser:
        context = browser.new_context(offline=True)
        page = context.new_page()
        page.set_default_timeout(600_000)
        expect.set_options(timeout=600_000)
        page.goto(PAGE.as_uri())
        yield page


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script that compares both verifiers."""
    return scripts.tool("verify_page")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    """A town that has published."""
    made = make_town(tmp_path_factory.mktemp("served") / "town")
    made.publish()
    return made


ASK = """(files) => files.map((text) => {
  const found = verifier.verdict(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)));
  return [found.code, found.words, found.found.map((one) => [one.hash, one.low, one.high])];
})"""


def test_it_gives_the_verdicts_of_the_python_verifier(offline: Page, tool: ModuleType) -> None:
    data = tool.files(COUNT, 20)
    answers: list[Any] = offline.evaluate(ASK, [base64.b64encode(one).decode() for one in data])
    assert list(tool.differences(data, answers)) == []
    assert {code for code, _, _ in answers} == {0, 1, 2}


def test_it_proves_and_refutes_unbiased_values_as_the_python_verifier_does(offline: Page, tool: ModuleType) -> None:
    data = [json.dumps(document).encode() for document in unbiased_documents()]
    answers: list[Any] = offline.evaluate(ASK, [base64.b64encode(one).decode() for one in data])
    assert list(tool.differences(data, answers)) == []


def test_it_says_of_noise_that_is_not_proved_what_the_python_verifier_says(offline: Page, tool: ModuleType) -> None:
    own, told = scripts.module_at(PAGE.with_name("verify_standalone.py"), "the_verifier_beside_the_page"), []
    for document in forged_counted():
        with suppress(ValueError, KeyError, TypeError, own.TooLarge):  # what cannot be read
            try:
                own.prove(document)
            except own.Refuted as reason:
                told.append((str(reason), document))
    data = [base64.b64encode(json.dumps(document).encode()).decode() for _, document in told]
    both = [(reason, words) for (reason, _), (_, words, _) in zip(told, offline.evaluate(ASK, data), strict=True)]
    both = [each for each in both if any("to be proved" in words for words in each)]
    assert len(both) > 3 and all(reason == words for reason, words in both)


def test_it_refuses_a_family_of_very_many_members_as_the_python_verifier_does(offline: Page) -> None:
    data = [base64.b64encode(json.dumps(many_members(number)).encode()).decode() for number in (10, 13)]
    few, many = offline.evaluate(ASK, data)
    assert few[0] == 0 and len(few[2]) == 10
    assert many == [2, "too large to be checked here: more than 225000000 steps for all members together", []]


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{}", b'{"a": 1, "a": 1}', b'{"a": 1.0}', b'{"a": NaN}', b"\xff", b"\xef\xbb\xbf{}", b"[" * 100_000]
)
def test_what_cannot_be_read_is_neither(offline: Page, text: bytes) -> None:
    assert offline.evaluate(ASK, [base64.b64encode(text).decode()])[0][0] == 2


def test_a_release_folder_is_checked_and_a_forged_one_fails(offline: Page, town: Town, tmp_path: Path) -> None:
    offline.set_input_files("#file", [str(path) for path in town.target.iterdir()])
    expect(offline.locator("#told")).to_contain_text("Nothing that was checked is wrong")
    expect(offline.locator("#told")).to_contain_text("Proved")
    forged = tmp_path / "forged"
    shutil.copytree(town.target, forged)
    mechanism = (forged / "mechanism.json").read_text(encoding="utf-8")
    (forged / "mechanism.json").write_text(mechanism.replace('"epsilon":"1"', '"epsilon":"1/2"'), encoding="utf-8")
    offline.set_input_files("#file", [str(path) for path in forged.iterdir()])
    expect(offline.locator("#told")).to_contain_text("This release fails")
    expect(offline.locator("#told")).to_contain_text("mechanism.json")
    expect(offline.locator("#told")).to_contain_text("more than exp(1/2) times as likely")


OPEN = """async (files) => Promise.all(files.map(async (text) => {
  const found = await verifier.opened(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)));
  return [found.code, found.words];
}))"""


def test_zipped_files_are_opened_as_far_as_they_may_be(offline: Page, town: Town, tmp_path: Path) -> None:
    plain = (town.target / "mechanism.json").read_bytes()
    small, bomb = gzip.compress(plain), gzip.compress(bytes(10**7))
    given = [plain, small, bomb, small[:-4], small + b"{}"]
    found: list[Any] = offline.evaluate(OPEN, [base64.b64encode(one).decode() for one in given])
    assert [code for code, _ in found] == [0, 0, 2, 2, 2] and "too large" in found[2][1]
    twice = tmp_path / "twice"
    shutil.copytree(town.target, twice)
    (twice / "mechanism.json.gz").write_bytes(small)
    offline.set_input_files("#file", [str(path) for path in twice.iterdir()])
    expect(offline.locator("#told")).to_contain_text("two stories")
    manifest = json.loads((twice / "manifest.json").read_text(encoding="utf-8"))
    del manifest["files"]["mechanism.json"]
    manifest["files"]["mechanism.json.gz"] = hashlib.sha256(small).hexdigest()
    (twice / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (twice / "mechanism.json").unlink()
    offline.set_input_files("#file", [str(path) for path in twice.iterdir()])
    expect(offline.locator("#told")).to_contain_text("Nothing that was checked is wrong")
    expect(offline.locator("#told")).to_contain_text("Proved")


def test_it_holds_no_address_and_may_send_nothing() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "http:" not in text and "https:" not in text and "fetch(" not in text and "eval(" not in text
    assert "default-src 'none'" in text
