"""The theory page: every result of the papers in our words, with the function that implements it and the tests that execute it.

`docs/results.toml` is the catalogue, one entry for each result: its key (`SY Thm 3`), our words, the function to call. Where it is
used is collected from the docstrings of the library, of the tests and of the gallery, which cite results by these keys in the
spellings and ranges that people write (`SY Theorem 3`, `BG Thms 6, 10`, `SY Figs 1-5`, `CY, tightest claim`).

`python tools/theory.py` writes docs/theory.md; `--check` says what is wrong with the catalogue or the page and ends with 1.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAPERS = {
    "SY": "Schmutte & Yoder: Information Design for Differential Privacy",
    "SY-OA": "Schmutte & Yoder, online appendix",
    "BG": "Bailie & Gong: General Inferential Limits via Intervals of Measures",
    "CY": "Cuff & Yu: Differential Privacy as a Mutual Information Constraint",
    "DR": "Notes on Dwork & Roth: The Algorithmic Foundations of Differential Privacy",
}
KINDS = {
    r"Theorems?|Thms?\.?": "Thm", r"Propositions?|Props?\.?": "Prop.", r"Lemmas?": "Lemma", r"Corollary|Corollaries|Cor\.": "Cor.",
    r"Definitions?|Defs?\.?": "Def.", r"Examples?|Ex\.": "Ex.", r"Figures?|Figs?\.?": "Fig.", r"Appendix|App\.": "App.",
    r"eqs?\.": "eq.", r"fn|footnotes?": "fn", r"sections?|§": "§", r"Remarks?|Rem\.": "Rem.", r"Assumptions?": "Assumption",
}  # fmt: skip
NUMBER = r"\(?(?:S\.)?[0-9]+(?:\.[0-9]+)*\)?|[A-C]\b"
CITED = re.compile(
    rf"\b(SY-OA|SY|BG|CY|DR)(?:'s)?[ ,]+({'|'.join(KINDS)}) ?((?:{NUMBER})(?:(?:-|, | and )(?:{NUMBER}))*)"
    rf"|(?<=[,;] )({'|'.join(KINDS)}) ?((?:{NUMBER})(?:(?:-|, | and )(?:{NUMBER}))*)"
)


NEAR = 16
"""Characters between two citations of which the second does not repeat the paper."""


@dataclass
class Result:
    """One entry of the catalogue, and where its key is cited."""

    key: str
    words: str
    by: str
    cited: tuple[str, ...] = ()
    source: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)

    @property
    def paper(self) -> str:
        """The key of its paper."""
        return re.split(r"[ ,]", self.key)[0]


def catalogue(root: Path = ROOT) -> dict[str, Result]:
    """The entries by their keys."""
    listed = tomllib.loads((root / "docs" / "results.toml").read_text(encoding="utf-8"))["result"]
    return {entry["key"]: Result(entry["key"], entry["words"], entry["by"], tuple(entry.get("cited", ()))) for entry in listed}


def references(text: str) -> set[str]:
    """The keys cited in a text: `BG Thms 6, 10` is BG Thm 6 and BG Thm 10; a second kind belongs to the paper named before it."""
    found, paper, end = set(), "", -9
    flat = " ".join(text.split())
    for match in CITED.finditer(flat):
        paper = match[1] or (paper if match.start() - end <= NEAR else "")
        end = match.end()
        if paper:
            kind = next(short for long, short in KINDS.items() if re.fullmatch(long, match[2] or match[4]))
            found |= {f"{paper} {kind} {number}" for number in _numbers(match[3] or match[5])}
    return found


def _numbers(text: str) -> Iterator[str]:
    pieces = [p.strip("()") for p in re.split(r", | and ", text)]
    for piece in pieces:
        ends = piece.replace("(", "").replace(")", "").split("-")
        if len(ends) == 2 and all(e.isdigit() for e in ends):
            yield from map(str, range(int(ends[0]), int(ends[1]) + 1))
        else:
            yield ends[0]


@cache
def cited_in(path: Path) -> frozenset[str]:
    """The keys that the docstrings of a file cite."""
    return frozenset(key for _, words in docstrings(path) for key in references(words))


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Each docstring of a file with the name of what it describes; the file itself has the empty name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield "", ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ast.get_docstring(node) or ""


def collected(root: Path = ROOT) -> dict[str, Result]:
    """The catalogue with every place that cites an entry: modules of the library, files of tests, pictures of the gallery."""
    found = catalogue(root)
    for path in sorted([*(root / "src" / "discreet").rglob("*.py"), *(root / "tests").rglob("*.py")]):
        text = path.read_text(encoding="utf-8")
        keys = set(cited_in(path))
        keys |= {key for key, result in found.items() if any(spelled in text for spelled in result.cited)}
        for key in keys & set(found):
            _place(found[key], path.relative_to(root))
    return found


def _place(result: Result, path: Path) -> None:
    if path.parts[0] == "tests":
        result.tests += [path.as_posix()] * path.name.startswith("test_")
    elif "pictures" in path.parts:
        result.pictures.append(path.stem.replace("_", "-"))
    else:
        result.source.append(".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__"))


def strangers(root: Path = ROOT) -> Iterator[str]:
    """Numbered results that the library or a theorem's test cites and the catalogue does not have."""
    known = set(catalogue(root))
    for path in sorted([*(root / "src" / "discreet").rglob("*.py"), *(root / "tests" / "theorems").rglob("*.py")]):
        for key in sorted(cited_in(path) - known):
            if not re.search(r"§|fn 31", key):
                yield f"{path.relative_to(root)} cites {key}, which docs/results.toml does not have"


def incomplete(found: dict[str, Result]) -> Iterator[str]:
    """Entries that no docstring of the library cites, that nothing executes, or whose function is not there."""
    for key, result in found.items():
        if not (result.source or result.pictures):
            yield f"{key}: no docstring of the library cites it"
        if not (result.tests or result.pictures):
            yield f"{key}: no test executes it"
        module, _, name = result.by.rpartition(".")
        if not hasattr(import_module(module), name):
            yield f"{key}: there is no {result.by}"


def page(found: dict[str, Result]) -> str:
    """docs/theory.md."""
    lines = [
        "# Theory: every result, its function and its test",
        "",
        "The results of the papers in our words. *Call* is where to start; *cited in* are the modules whose documentation rests on",
        "the result; *executed by* the tests that run its formula, each theorem's with a near miss that must fail, and pictures",
        "of the [gallery](gallery.md) with their numbers. Where a paper is wrong in print, the [errata](errata.md) say so.",
        "",
        "This page is written by `python tools/theory.py` from `docs/results.toml` and from the references in docstrings; a test",
        "holds it complete.",
    ]
    for paper, title in {**PAPERS, "Ours": "Ours"}.items():
        own = [result for result in found.values() if result.paper == paper]
        lines += ["", f"## {title}", "", "| result | in our words | call | cited in | executed by |", "|---|---|---|---|---|"]
        lines += [_row(result) for result in own]
    return "\n".join([*lines, ""])


def _row(result: Result) -> str:
    cited = ", ".join(f"`{name.removeprefix('discreet.')}`" for name in result.source[:4])
    more = f" and {len(result.source) - 4} more" if len(result.source) > 4 else ""
    tests = [f"[{Path(name).stem.removeprefix('test_')}](../{name})" for name in result.tests[:3]]
    pictures = [f"picture `{name}`" for name in result.pictures]
    call = f"`{result.by.removeprefix('discreet.')}`"
    words = result.words.replace("|", "\\|")
    return f"| {result.key} | {words} | {call} | {cited}{more} | {', '.join([*tests, *pictures])} |"


def stale(found: dict[str, Result], written: str) -> list[str]:
    """Entries that the page does not show in these words; who cites them may lag behind until it is written again."""
    shown = {tuple(line.split(" | ")[:3]) for line in written.splitlines()}
    return [key for key, result in found.items() if tuple(_row(result).split(" | ")[:3]) not in shown]


def main() -> int:
    """Write the page, or check it."""
    found = collected()
    wrong = [*strangers(), *incomplete(found)]
    place = ROOT / "docs" / "theory.md"
    if "--check" in sys.argv[1:]:
        wrong += [
            f"docs/theory.md does not show {key}: run tools/theory.py" for key in stale(found, place.read_text(encoding="utf-8"))
        ]
    else:
        place.write_text(page(found), encoding="utf-8")
    for words in wrong:
        print(f"theory: {words}", file=sys.stderr)
    if not wrong:
        print(f"theory: {len(found)} results, each cited, called and executed.")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
