"""Check the documentation: links resolve, examples run, and everything public is on a page.

- every link between our files leads somewhere, headings included;
- every `python` block runs, all blocks of a file in one namespace, in an empty folder;
- every `console` block runs: lines beginning with `$ discreet` succeed and print the other lines;
- every decision is listed on docs/index.md;
- every package has a page docs/PACKAGE.md, reachable from docs/index.md, that names its public things;
- every command has its heading in docs/command-line.md.

`python tools/documents.py` prints what is wrong and ends with 1, or says what was checked and ends with 0.
"""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = 1200
PAGES = {"web": "workbench"}
"""Packages whose page has the name that users know."""


def pages(root: Path) -> list[Path]:
    """Every page: those at the root and those under docs/."""
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def anchors(page: Path) -> set[str]:
    """The headings of a page as link targets."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    """Where a page links to, outside code."""
    return LINK.findall(re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8"))))


def dead_links(root: Path) -> Iterator[str]:
    """Links to a file or heading that is not there. Addresses on the web are not fetched."""
    for page in pages(root):
        for target in links(page):
            if "://" in target or target.startswith("mailto:"):
                continue
            name, _, heading = target.partition("#")
            there = (page.parent / name).resolve() if name else page
            if not there.exists():
                yield f"{page.relative_to(root)}: there is nothing at {target}"
            elif heading and there.suffix == ".md" and heading not in anchors(there):
                yield f"{page.relative_to(root)}: {there.name} has no heading {heading}"


def unreachable(root: Path) -> Iterator[str]:
    """Pages under docs/ that no chain of links from docs/index.md reaches."""
    start = root / "docs" / "index.md"
    seen, waiting = set(), [start]
    while waiting:
        page = waiting.pop()
        if page in seen or not page.exists():
            continue
        seen.add(page)
        targets = [target.partition("#")[0] for target in links(page) if "://" not in target]
        waiting += [(page.parent / name).resolve() for name in targets if name.endswith(".md")]
    for page in sorted((root / "docs").rglob("*.md")):
        if page.resolve() not in {found.resolve() for found in seen}:
            yield f"{page.relative_to(root)} is not reachable from docs/index.md"


def unlisted(root: Path) -> Iterator[str]:
    """Decisions that docs/index.md does not name: a reader looks for them there."""
    named = set(links(root / "docs" / "index.md"))
    for page in sorted((root / "docs" / "decisions").glob("*.md")):
        if f"decisions/{page.name}" not in named:
            yield f"docs/index.md does not list decisions/{page.name}"


def public_names(package: Path) -> list[str]:
    """The `__all__` of a package, read without importing it."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def undocumented(root: Path) -> Iterator[str]:
    """Packages without a page, and public names or commands that no page explains."""
    source = root / "src" / "discreet"
    for package in sorted(path.parent for path in source.glob("*/__init__.py")):
        if package.name == "cli":
            continue
        page = root / "docs" / f"{PAGES.get(package.name, package.name)}.md"
        if not page.exists():
            yield f"the package {package.name} has no page docs/{package.name}.md"
            continue
        words = set(re.findall(r"\w+", page.read_text(encoding="utf-8")))
        for name in public_names(package):
            if name not in words:
                yield f"docs/{package.name}.md does not mention {name}"
    headings = anchors(root / "docs" / "command-line.md")
    for command in sorted((source / "cli" / "commands").glob("[a-z]*.py")):
        name = command.stem.replace("_", "-")
        if f"discreet-{name}" not in headings:
            yield f"docs/command-line.md has no heading for discreet {name}"


def failing_examples(root: Path) -> Iterator[str]:
    """Code on a page that does not do what the page says."""
    for page in pages(root):
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            program = "\n".join(text for kind, text in blocks if kind == "python")
            if program:
                trouble = run([sys.executable, "-c", program], Path(folder))[1]
                if trouble:
                    yield f"{page.relative_to(root)}: the Python example fails: {trouble}"
            for text in (text for kind, text in blocks if kind == "console"):
                yield from (f"{page.relative_to(root)}: {words}" for words in console(text, Path(folder)))


def console(text: str, folder: Path) -> Iterator[str]:
    """What is wrong with a block of `$ discreet …` lines and the output shown under them."""
    printed = ""
    for line in text.splitlines():
        if line.startswith("$ discreet"):
            words = ["-c", "from discreet.cli.main import main; main()", *shlex.split(line[2:])[1:]]
            printed, trouble = run([sys.executable, *words], folder)
            if trouble:
                yield f"{line} fails: {trouble}"
        elif line.startswith("$ "):
            printed = ""
        elif line.strip() and printed and line.strip() not in printed:
            yield f"the output shown is not what is printed: {line.strip()}"


def run(command: list[str], folder: Path) -> tuple[str, str]:
    """Standard output of a command, and the last line of its complaint if it failed."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "", f"no answer within {SECONDS} s"
    complaint = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return done.stdout, complaint if done.returncode else ""


CHECKS = (dead_links, unreachable, unlisted, undocumented, failing_examples)


def main() -> int:
    """Run every check."""
    found = [words for check in CHECKS for words in check(ROOT)]
    for words in found:
        print(f"docs: {words}", file=sys.stderr)
    if not found:
        print(f"docs: {len(pages(ROOT))} pages hold: links, examples, every public name and command.")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
