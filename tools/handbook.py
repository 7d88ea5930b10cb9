"""Build the documentation as a site that opens from a folder: no server, no network, with search.

Pages are those of docs/ and of the root, sorted by reader in docs/site/navigation.toml, and the reference that `reference_pages`
writes from docstrings, from the program and from the schemas. Whatever is wrong is an error: a link or picture to nowhere,
a heading that is not there, or a page that no reader is shown.

`python tools/handbook.py [FOLDER]` builds into build/site; `--without-pictures` leaves out the gallery's.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass, field
from html import escape
from os.path import relpath
from pathlib import Path, PurePosixPath
from string import Template
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

import reference_pages

ROOT = Path(__file__).resolve().parent.parent
AT_THE_ROOT = {
    "README.md": "readme.html",
    "SECURITY.md": "security.html",
    "CONTRIBUTING.md": "contributing.html",
    "CHANGELOG.md": "changes.html",
}
LIGHT = {"Decisions": 0.4, "Reference": 0.6, "Theory": 0.7}
"""How much a page of a section counts in search; others count 1."""


@dataclass
class Section:
    """Pages for one kind of reader."""

    title: str
    pages: list[str]


@dataclass
class Sheet:
    """A page: where its text stands, where it goes, and what was found in it."""

    source: str
    text: str
    section: str = ""
    title: str = ""
    body: str = ""
    headings: dict[str, str] = field(default_factory=dict)
    passages: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def place(self) -> str:
        """Its address in the site."""
        return AT_THE_ROOT.get(self.source) or str(PurePosixPath(self.source).relative_to("docs").with_suffix(".html"))


class Site:
    """All pages, what is copied beside them, and what is wrong."""

    def __init__(self, root: Path, generated: dict[str, str]) -> None:
        self.root = root
        self.wrong: list[str] = []
        self.copied: set[str] = set()
        self.anchored: list[tuple[str, str, str]] = []
        listed = tomllib.loads((root / "docs" / "site" / "navigation.toml").read_text(encoding="utf-8"))["section"]
        self.sections = [Section(entry["title"], _expanded(root, entry["pages"], generated)) for entry in listed]
        files = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
        texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files} | generated
        self.sheets = {source: Sheet(source, text) for source, text in sorted(texts.items())}
        self._sort()
        for sheet in self.sheets.values():
            self._render(sheet)
        for source, target, heading in self.anchored:
            if heading not in self.sheets[target].headings:
                self.wrong.append(f"{source}: {target} has no heading {heading}")

    def _sort(self) -> None:
        for section in self.sections:
            for source in section.pages:
                if source not in self.sheets:
                    self.wrong.append(f"docs/site/navigation.toml shows {source}, which is not there")
                elif self.sheets[source].section:
                    self.wrong.append(f"docs/site/navigation.toml shows {source} twice")
                else:
                    self.sheets[source].section = section.title
        for source, sheet in self.sheets.items():
            if not sheet.section and source not in AT_THE_ROOT:
                self.wrong.append(f"docs/site/navigation.toml shows {source} to no reader")

    def _render(self, sheet: Sheet) -> None:
        markdown = MarkdownIt("commonmark", {"highlight": _coloured, "html": False}).enable("table")
        tokens = markdown.parse(sheet.text)
        self._read(sheet, tokens)
        body = markdown.renderer.render(tokens, markdown.options, {})
        sheet.body = body.replace("<table>", '<div class="rows"><table>').replace("</table>", "</table></div>")
        sheet.title = sheet.title or sheet.source

    def _read(self, sheet: Sheet, tokens: list[Token]) -> None:
        """Give headings their anchors, links their addresses, and search its passages."""
        heading, words, anchor = "", [], ""
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                if words or heading:
                    sheet.passages.append((heading, anchor, " ".join(words)))
                heading, words = _plain(tokens[i + 1]), []
                anchor = slug(heading)
                token.attrSet("id", anchor)
                sheet.headings[anchor] = heading
                sheet.title = sheet.title or heading
            elif token.type == "inline":
                if tokens[i - 1].type != "heading_open":
                    words.append(_plain(token))
                for child in token.children or []:
                    if child.type in ("link_open", "image"):
                        name = "href" if child.type == "link_open" else "src"
                        child.attrSet(name, self._address(sheet, str(child.attrGet(name))))
            elif token.type == "fence":
                words.append(token.content)
        sheet.passages.append((heading, anchor, " ".join(words)))

    def _address(self, sheet: Sheet, target: str) -> str:
        """Where a link leads: to a page, or to a file of the repository that is copied beside the pages."""
        if "://" in target or target.startswith("mailto:"):
            return target
        name, _, heading = target.partition("#")
        there = PurePosixPath(relpath(PurePosixPath(sheet.source).parent / name, ".")).as_posix() if name else sheet.source
        if there in self.sheets:
            if heading:
                self.anchored.append((sheet.source, there, heading))
            return relpath(self.sheets[there].place, PurePosixPath(sheet.place).parent) + (f"#{heading}" if heading else "")
        if (self.root / there).is_file() or there in self.copied:
            self.copied.add(there)
            return relpath(f"files/{there}", PurePosixPath(sheet.place).parent)
        self.wrong.append(f"{sheet.source}: there is nothing at {target}")
        return target

    def navigation(self, now: Sheet) -> str:
        """The pages by reader; the section of this page is open."""
        parts = []
        for section in self.sections:
            links = []
            for source in section.pages:
                there = self.sheets.get(source)
                if there is not None:
                    here = ' aria-current="page"' if there is now else ""
                    links.append(f'<li><a href="{_from(now, there.place)}"{here}>{escape(short(there.title))}</a></li>')
            opened = (
                " open" if section.title == now.section or (now.source == "docs/index.md" and section.title != "Decisions") else ""
            )
            parts.append(f"<details{opened}><summary>{section.title}</summary><ul>{''.join(links)}</ul></details>")
        return "".join(parts)

    def index(self) -> list[dict[str, Any]]:
        """What search knows: each passage under its heading."""
        found = []
        for sheet in self.sheets.values():
            for heading, anchor, words in sheet.passages:
                text = " ".join(words.split())
                if not text and not heading:
                    continue
                address = sheet.place + (f"#{anchor}" if anchor and heading != sheet.title else "")
                found.append({
                    "t": short(sheet.title), "h": heading or sheet.title, "u": address, "s": sheet.section or "Project",
                    "x": text[:4000], "w": LIGHT.get(sheet.section, 0.6 if not sheet.section else 1),
                })  # fmt: skip
        return found

    def write(self, folder: Path) -> None:
        """The whole site into an empty folder."""
        shutil.rmtree(folder, ignore_errors=True)
        template = Template((self.root / "docs" / "site" / "page.html").read_text(encoding="utf-8"))
        for sheet in self.sheets.values():
            place = folder / sheet.place
            place.parent.mkdir(parents=True, exist_ok=True)
            root = "../" * (len(PurePosixPath(sheet.place).parts) - 1)
            footer = f"{escape(sheet.section or 'Project')} · written from <code>{escape(sheet.source)}</code>"
            page = template.substitute(
                title=escape(sheet.title), root=root, navigation=self.navigation(sheet), body=sheet.body, footer=footer
            )
            place.write_text(page, encoding="utf-8")
        for name in ("site.css", "search.js"):
            shutil.copyfile(self.root / "docs" / "site" / name, folder / name)
        (folder / "index.js").write_text(f"const INDEX = {json.dumps(self.index(), ensure_ascii=False)};\n", encoding="utf-8")
        for name in sorted(self.copied):
            place = folder / "files" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / name, place)


def slug(heading: str) -> str:
    """A heading as a link target, as tools/documents.py makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def _expanded(root: Path, pages: list[str], generated: dict[str, str]) -> list[str]:
    """Names relative to docs/; a star stands for every page of a folder, written or generated."""
    found = []
    for name in pages:
        if name.endswith("*"):
            written = {path.relative_to(root).as_posix() for path in (root / "docs").glob(f"{name}.md")}
            made = {source for source in generated if PurePosixPath(source).match(f"docs/{name}.md")}
            found += sorted(written | made)
        else:
            found.append(name if name in AT_THE_ROOT else f"docs/{name}")
    return found


def _plain(inline: Token) -> str:
    return "".join(child.content if child.type in ("text", "code_inline") else " " for child in inline.children or []).strip()


def short(title: str) -> str:
    """A title as the menu shows it: without what the section says already, and without its second half where it is long."""
    for prefix in ("Tutorial: ", "Finding: ", "Gallery: ", "discreet: "):
        title = title.removeprefix(prefix)
    if len(title) > 32:
        title = re.split(r": |, or |, and |, but ", title)[0]
    return title[:1].upper() + title[1:] if not title.startswith("discreet.") else title


def _from(sheet: Sheet, place: str) -> str:
    return relpath(place, PurePosixPath(sheet.place).parent)


def _coloured(text: str, language: str, _attributes: str) -> str:
    """Colour by Pygments where it knows the language; the markup is safe."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return str(highlight(text, get_lexer_by_name(language or "text"), HtmlFormatter(nowrap=True)))
    except ClassNotFound:
        return escape(text)


def build(folder: Path, pictures: bool = True) -> list[str]:
    """The site in a folder, and what is wrong with it; nothing is written while something is."""
    generated = reference_pages.pages(ROOT, pictures)
    site = Site(ROOT, generated)
    if not site.wrong:
        site.write(folder)
    return site.wrong


def main() -> int:
    """Build, or say what is wrong."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    folder = Path(words[0]) if words else ROOT / "build" / "site"
    wrong = build(folder, "--without-pictures" not in sys.argv)
    for line in wrong:
        print(f"site: {line}", file=sys.stderr)
    if not wrong:
        print(f"site: open {folder / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
