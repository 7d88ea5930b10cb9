"""The checker of the documentation catches what it should; `make docs` checks the documentation itself."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from scripts import tool

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def documents() -> ModuleType:
    """tools/documents.py as a module."""
    return tool("documents")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A small house in order: one package, one command, all explained."""
    package = tmp_path / "src" / "discreet" / "numerics"
    commands = tmp_path / "src" / "discreet" / "cli" / "commands"
    for folder in (package, commands, tmp_path / "docs"):
        folder.mkdir(parents=True)
    (package / "__init__.py").write_text('__all__ = ["bracket"]\n')
    (commands / "certify.py").write_text("")
    (tmp_path / "README.md").write_text("# House\nSee [docs](docs/index.md#rooms).\n```python\nassert 1 + 1 == 2\n```\n")
    (tmp_path / "docs" / "index.md").write_text("# Index\n## Rooms\n[n](numerics.md) [c](command-line.md)\n")
    (tmp_path / "docs" / "numerics.md").write_text("# Numerics\n`bracket` brackets.\n")
    (tmp_path / "docs" / "command-line.md").write_text(
        "# Commands\n## discreet certify\n```console\n$ discreet --version\ndiscreet\n```\n"
    )
    return tmp_path


def troubles(documents: ModuleType, house: Path) -> list[str]:
    """All complaints about a house."""
    return [words for check in documents.CHECKS for words in check(house)]


def test_a_house_in_order_gets_no_complaint(documents: ModuleType, house: Path) -> None:
    assert troubles(documents, house) == []


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("README.md", "[gone](docs/gone.md)", "there is nothing at docs/gone.md"),
        ("README.md", "[gone](docs/index.md#cellar)", "has no heading cellar"),
        ("docs/numerics.md", "# Numerics\nsilence", "does not mention bracket"),
        ("docs/command-line.md", "# Commands", "no heading for discreet certify"),
        ("docs/index.md", "# Index\n## Rooms\n[c](command-line.md)", "docs/numerics.md is not reachable"),
        ("README.md", "```python\nassert 1 + 1 == 3\n```\n", "the Python example fails: AssertionError"),
        ("README.md", "```console\n$ discreet --verson\n```\n", "$ discreet --verson fails"),
        (
            "README.md",
            "```console\n$ discreet --version\nindiscreet\n```\n",
            "not what is printed: indiscreet",
        ),
    ],
)
def test_each_fault_is_caught(documents: ModuleType, house: Path, file: str, text: str, words: str) -> None:
    (house / file).write_text(text)
    found = troubles(documents, house)
    assert any(words in line for line in found), found


def test_a_decision_that_the_index_leaves_out_is_caught(documents: ModuleType, house: Path) -> None:
    (house / "docs" / "decisions").mkdir()
    (house / "docs" / "decisions" / "0001-rooms.md").write_text("# Rooms\n")
    with (house / "docs" / "numerics.md").open("a") as page:
        page.write("[why](decisions/0001-rooms.md)\n")
    assert "docs/index.md does not list decisions/0001-rooms.md" in troubles(documents, house)


def test_a_package_without_a_page_is_caught(documents: ModuleType, house: Path) -> None:
    (house / "docs" / "numerics.md").unlink()
    assert "the package numerics has no page docs/numerics.md" in troubles(documents, house)
