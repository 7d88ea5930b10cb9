"""The catalogue of results is complete: each is cited by the library and executed, and nothing unknown is cited."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import tool

ROOT = Path(__file__).resolve().parent.parent


theory = tool("theory")


def test_every_result_is_cited_called_and_executed_and_the_page_says_so() -> None:
    found = theory.collected()
    assert [*theory.strangers(), *theory.incomplete(found)] == []
    assert theory.stale(found, (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")) == [], "run python tools/theory.py"
    numbered = [("SY Thm", 1, 4), ("SY Lemma", 1, 8), ("SY Prop.", 1, 6), ("SY Cor.", 1, 5), ("SY Fig.", 1, 8), ("SY Ex.", 1, 3)]
    numbered += [("BG Thm", 5, 6), ("BG Thm", 10, 11), ("BG Ex.", 1, 5), ("BG Fig.", 1, 3)]
    assert {f"{kind} {k}" for kind, first, last in numbered for k in range(first, last + 1)} <= set(found)


def test_a_changed_word_makes_the_page_stale() -> None:
    found = theory.catalogue()
    written = theory.page(found)
    assert theory.stale(found, written) == []
    assert theory.stale(found, written.replace("adding noise to the sum is not enough", "adding noise is enough")) == ["SY Thm 1"]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("References: SY Theorem 3, BG Thms 6, 10.", {"SY Thm 3", "BG Thm 6", "BG Thm 10"}),
        ("as in SY Figs 1-3 and 5", {"SY Fig. 1", "SY Fig. 2", "SY Fig. 3", "SY Fig. 5"}),
        ("(SY eq. (4) and (7), Lemma 5, Corollary 3)", {"SY eq. 4", "SY eq. 7", "SY Lemma 5", "SY Cor. 3"}),
        ("SY-OA Prop. S.1, SY App. A", {"SY-OA Prop. S.1", "SY App. A"}),
        ("BG section 7", {"BG § 7"}),
        ("Theorem 3 of nobody; Canonne et al. (2020), Prop. 7", set()),
        ("SY Thm 1 is old. A long sentence about something else follows, Thm 8 of another paper.", {"SY Thm 1"}),
    ],
)
def test_citations_are_read_as_people_write_them(text: str, keys: set[str]) -> None:
    assert theory.references(text) == keys


def house(folder: Path, source: str, test: str, catalogue: str) -> Path:
    for name, text in (("src/discreet/room.py", source), ("tests/theorems/test_room.py", test), ("docs/results.toml", catalogue)):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


ENTRY = '[[result]]\nkey = "SY Thm 1"\nwords = "words"\nby = "math.sqrt"\n'


@pytest.mark.parametrize(
    ("source", "test", "catalogue", "complaint"),
    [
        ('"""SY Thm 1."""', '"""SY Thm 1."""', ENTRY, None),
        ('"""SY Thm 1."""', '"""SY Thm 2."""', ENTRY, "cites SY Thm 2, which"),
        ('"""Nothing."""', '"""SY Thm 1."""', ENTRY, "no docstring of the library cites it"),
        ('"""SY Thm 1."""', '# SY Thm 1\n"""Nothing."""', ENTRY, "no test executes it"),
        ('"""SY Thm 1."""', '"""SY Thm 1."""', ENTRY.replace("sqrt", "squirt"), "there is no math.squirt"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, source: str, test: str, catalogue: str, complaint: str | None) -> None:
    root = house(tmp_path, source, test, catalogue)
    wrong = [*theory.strangers(root), *theory.incomplete(theory.collected(root))]
    assert (wrong == []) if complaint is None else any(complaint in words for words in wrong)
