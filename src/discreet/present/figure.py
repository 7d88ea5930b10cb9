"""A picture: a Vega-Lite specification with a title and words for those who cannot see it.

`Figure.write` chooses by the ending of the file: .svg, .png, .html (a page that answers the pointer), .json.
It is drawn by vl-convert (the extra `figures`), which carries its own JavaScript engine: no browser and no network.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from discreet.errors import InputError, MissingExtra
from discreet.files.atomic import write_atomically
from discreet.present.theme import CONFIG

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
VEGA_LITE = "5.20"
MENU = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}
VEIL = "\ue000"
ENDINGS = (".svg", ".png", ".html", ".json")


@dataclass(frozen=True, eq=False)
class Figure:
    """`body` is the specification without its head; `alt` says in words what the picture shows."""

    title: str
    alt: str
    body: dict[str, Any]
    subtitle: str = ""

    @property
    def specification(self) -> dict[str, Any]:
        """The whole Vega-Lite specification; its description is the alt text."""
        title: dict[str, Any] = {"text": self.title}
        if self.subtitle:
            title["subtitle"] = self.subtitle
        return {"$schema": SCHEMA, "description": self.alt, "title": title, "config": CONFIG, **self.body}

    def svg(self) -> str:
        """The picture as SVG text, with its words inside for screen readers."""
        drawn = str(_converter().vegalite_to_svg(self.specification, vl_version=VEGA_LITE))
        head, tag, rest = drawn.partition(">")
        return f'{head} role="img"{tag}<title>{escape(self.title)}</title><desc>{escape(self.alt)}</desc>{rest}'

    def png(self, scale: float = 2.0) -> bytes:
        """The picture as PNG bytes."""
        return bytes(_converter().vegalite_to_png(self.specification, vl_version=VEGA_LITE, scale=scale))

    def html(self) -> str:
        """The picture as a page of its own that answers the pointer; its scripts are inside, so it opens offline."""
        specification = self.specification
        lively = {
            **specification,
            "config": {**CONFIG, "mark": {"tooltip": True}},
            "usermeta": {"embedOptions": MENU},
        }
        # A label such as "</script>" must not end the script that it stands in.
        veiled = json.dumps(lively, ensure_ascii=False).replace("<", VEIL)
        tool = _converter()
        # The scripts inside are the newest that the tool carries; an older compiler would complain in the console.
        newest = tool.get_vegalite_versions()[-1] if hasattr(tool, "get_vegalite_versions") else VEGA_LITE
        veiled = veiled.replace(SCHEMA, SCHEMA.replace("v5", f"v{newest.split('.')[0]}"))
        page = str(tool.vegalite_to_html(veiled, vl_version=newest, bundle=True, renderer="svg"))
        page = page.replace(VEIL, "\\u003c").replace("<html>", '<html lang="en">', 1)
        page = page.replace("<title>Chart</title>", f"<title>{escape(self.title)}</title>", 1)
        before, _, after = page.rpartition("</body>")
        return f'{before}<p style="max-width: 60em; font: 14px sans-serif">{escape(self.alt)}</p>\n</body>{after}'

    def write(self, path: str | Path) -> Path:
        """Draw into a file; its ending chooses between .svg, .png, .html and .json (the specification)."""
        place = must_be_drawable(path)
        if place.suffix == ".png":
            data = self.png()
        else:
            texts = {".svg": self.svg, ".html": self.html, ".json": self.json}
            data = texts[place.suffix]().encode()
        write_atomically(place, data)
        return place

    def json(self) -> str:
        """The specification as text."""
        return json.dumps(self.specification, ensure_ascii=False, indent=1)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        return self.svg()


def must_be_drawable(path: str | Path) -> Path:
    """The path of a picture, refused before any long work when nothing could be drawn there."""
    place = Path(path)
    if place.suffix not in ENDINGS:
        raise InputError(
            "Pictures are written as SVG, PNG, a page or a Vega-Lite specification",
            found=place.name,
            allowed=ENDINGS,
            remedy="give the file one of these endings",
        )
    if place.suffix != ".json":
        _converter()
    return place


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("figures", needed_for="drawing pictures") from None
    return vl_convert
