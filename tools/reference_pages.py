"""The pages of the site that nobody writes: the API from docstrings, commands from the program, formats from schemas, the gallery.

`pages(root)` maps where each would stand under docs/ to its text.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PICTURES = "build/gallery"


def pages(root: Path, pictures: bool = True) -> dict[str, str]:
    """Every generated page by its place."""
    found = {f"docs/reference/api/{name}.md": _package(root, name) for name in packages(root)}
    found["docs/reference/commands.md"] = _commands()
    found["docs/reference/formats.md"] = _formats(root)
    found |= _gallery(root, pictures)
    return found


# ---- the API -------------------------------------------------------------------------------------------


def packages(root: Path) -> list[str]:
    """The packages that say what is public."""
    names = sorted(path.parent.name for path in (root / "src" / "discreet").glob("*/__init__.py"))
    return [name for name in names if getattr(importlib.import_module(f"discreet.{name}"), "__all__", ())]


def _package(root: Path, name: str) -> str:
    module = importlib.import_module(f"discreet.{name}")
    lines = [f"# discreet.{name}", "", _text(module.__doc__)]
    guide = root / "docs" / f"{name}.md"
    if guide.exists():
        lines += ["", f"The guide with examples: [{name}](../../{name}.md)."]
    for public in sorted(module.__all__, key=str.lower):
        lines += _thing(public, getattr(module, public))
    return "\n".join([*lines, ""])


def _thing(name: str, thing: Any) -> list[str]:
    if inspect.ismodule(thing):
        return ["", f"## {name}", "", "A module.", "", _text(thing.__doc__)]
    lines = ["", f"## {name}", "", "```python", f"{name}{_signature(thing)}", "```", "", _text(inspect.getdoc(thing))]
    if inspect.isclass(thing):
        rows = [(member, value) for member, value in vars(thing).items() if not member.startswith("_")]
        told = [
            (m, v) for m, v in rows if callable(v) or isinstance(v, property | classmethod | staticmethod) or hasattr(v, "func")
        ]
        if told:
            lines += ["", "| member | what it is |", "|---|---|"]
            lines += [f"| `{member}{_arguments(value)}` | {_first(value)} |" for member, value in told]
    return lines


def _signature(thing: Any) -> str:
    try:
        told = re.sub(r"<object object at [^>]*>|<function ([^ ]*) at [^>]*>", r"\1…", str(inspect.signature(thing)))
        return _wrapped(re.sub(r"(?<=: |> )'([^']*)'", r"\1", told))
    except (TypeError, ValueError):
        return ""


def _wrapped(signature: str) -> str:
    """One argument to a line where one line would be long; commas within brackets stay."""
    if len(signature) < 84:
        return signature
    depth, lines, now = 0, [], ""
    for letter in signature[1 : signature.rindex(")")]:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            lines.append(now.strip())
            now = ""
        else:
            now += letter
    return "(\n    " + ",\n    ".join([*lines, now.strip()]) + ",\n" + signature[signature.rindex(")") :]


def _arguments(member: Any) -> str:
    if isinstance(member, property) or hasattr(member, "func"):
        return ""
    names = [n for n in inspect.signature(getattr(member, "__func__", member)).parameters if n not in ("self", "cls")]
    return f"({', '.join(names)})"


def _first(member: Any) -> str:
    doc = inspect.getdoc(getattr(member, "__func__", getattr(member, "func", member))) or ""
    return doc.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _text(doc: str | None) -> str:
    """A docstring as text: what is indented stays as it stands, a bracket is no link."""
    return re.sub(r"(?<!`)\[([^\]`]*)\](?=\()", r"\\[\1\\]", inspect.cleandoc(doc or ""))


# ---- the command line ----------------------------------------------------------------------------------


def _commands() -> str:
    import click
    from typer.main import get_command

    from discreet.cli.main import app

    top = get_command(app)
    context = click.Context(top, info_name="discreet")
    lines = [
        "# Commands and their options", "",
        "Written from the program; [the command line](../command-line.md) explains each with examples and output.",
    ]  # fmt: skip
    for name in top.list_commands(context):  # type: ignore[attr-defined]
        lines += _command(f"discreet {name}", top.get_command(context, name))  # type: ignore[attr-defined]
    return "\n".join([*lines, ""])


def _command(name: str, command: Any) -> list[str]:
    lines = ["", f"## {name}", "", _text(command.help)]
    subcommands = getattr(command, "commands", {})
    if subcommands:
        for sub, inner in subcommands.items():
            lines += [line.replace("## ", "### ") if line.startswith("## ") else line for line in _command(f"{name} {sub}", inner)]
        return lines
    rows = [
        (" / ".join([*p.opts, *p.secondary_opts]) if p.param_type_name == "option" else (p.metavar or p.name).upper(), p)
        for p in command.params
    ]
    if rows:
        lines += ["", "| argument or option | what it does |", "|---|---|"]
        lines += [
            f"| `{spelled}` | {' '.join((getattr(p, 'help', '') or '').split()).replace('|', chr(92) + '|')} |"
            for spelled, p in rows
        ]
    return lines


# ---- formats -------------------------------------------------------------------------------------------


def _formats(root: Path) -> str:
    lines = [
        "# File formats", "",
        "Written from the published schemas, which are JSON Schema and lie beside these pages. [Files](../files.md) explains what",
        "each file is for; numbers are exact throughout: whole numbers, or texts such as `\"1/3\"` and `\"0.25\"`.",
    ]  # fmt: skip
    for path in sorted((root / "docs" / "schemas").glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        lines += ["", f"## {path.stem}", "", f"[{path.name}](../schemas/{path.name})"]
        lines += _keys(schema)
        for name, shape in schema.get("$defs", {}).items():
            if shape.get("properties"):
                lines += ["", f"### {path.stem}: {name}", *_keys(shape)]
    return "\n".join([*lines, ""])


def _keys(shape: dict[str, Any]) -> list[str]:
    needed = set(shape.get("required", ()))
    rows = ["", "| key | value | needed |", "|---|---|---|"]
    for key, value in shape.get("properties", {}).items():
        rows.append(f"| `{key}` | {_kind(value)} | {'yes' if key in needed else 'no'} |")
    return rows


def _kind(value: Any) -> str:
    if not isinstance(value, dict):
        return "anything"
    if value.get("description", "").startswith("an exact number"):
        return "exact number"
    if "$ref" in value:
        return value["$ref"].rpartition("/")[2]
    if "enum" in value:
        return " or ".join(f"`{item}`" for item in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_kind(part) for part in value["anyOf"] if part.get("type") != "null"))
    if value.get("type") == "array":
        return f"list of {_kind(value.get('items', {}))}"
    return str(value.get("type", "anything"))


# ---- the gallery ---------------------------------------------------------------------------------------


def _gallery(root: Path, drawn: bool) -> dict[str, str]:
    from discreet.gallery.picture import PAPERS
    from discreet.gallery.picture import pictures as known

    folder = root / PICTURES
    if drawn:
        missing = [name for name in known() if _old(folder / f"{name}.svg", root)]
        if missing and subprocess.run([sys.executable, "-m", "discreet.gallery", str(folder), *missing], check=False).returncode:
            raise SystemExit("site: a picture of the gallery could not be drawn, see above")
    found = {}
    for paper, title in PAPERS.items():
        lines = [f"# Gallery: {title}", "", "What a [gallery](../gallery.md) picture is, and how to draw one yourself."]
        for one in (p for p in known().values() if p.paper == paper):
            lines += ["", f"## {one.reference}: {one.title}", "", one.caption, ""]
            if drawn:
                told = json.loads((folder / f"{one.name}.json").read_text(encoding="utf-8"))
                lines += [
                    f"![{_safe(told['words'])}](../../{PICTURES}/{one.name}.svg)",
                    "",
                    "| checked | value | against |",
                    "|---|---|---|",
                ]
                lines += [f"| {_cell(n['words'])} | {n['shown']} | {_cell(n['by'])} |" for n in told["numbers"]]
            lines += ["", f"`python -m discreet.gallery . {one.name}`"]
        found[f"docs/gallery/{paper}.md"] = "\n".join([*lines, ""])
    return found


def _old(place: Path, root: Path) -> bool:
    newest = max(path.stat().st_mtime for path in (root / "src" / "discreet" / "gallery").rglob("*.py"))
    return not place.exists() or not place.with_suffix(".json").exists() or place.stat().st_mtime < newest


def _safe(words: str) -> str:
    return words.replace("[", "(").replace("]", ")")


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
