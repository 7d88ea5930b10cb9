"""The gallery: one page for each picture that `discreet.gallery` draws."""

from __future__ import annotations

import ast
from importlib import resources

from starlette.requests import Request
from starlette.routing import Route

from discreet.errors import InputError
from discreet.web.bench import Bench, Page, pictures


def names() -> list[str]:
    """The pictures that there are, read from the gallery's table without loading what draws them."""
    source = resources.files("discreet.gallery").joinpath("__main__.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if getattr(target, "id", "") == "PICTURES" and isinstance(getattr(node, "value", None), ast.Dict):
            return [str(key.value) for key in node.value.keys if isinstance(key, ast.Constant)]  # type: ignore[attr-defined]
    return []


def routes(bench: Bench) -> list[Route]:
    """The list, and one picture."""
    known = names()

    async def listed(request: Request) -> Page:
        return Page("gallery.html", {"pictures": known}, {"title": "Gallery", "names": known})

    async def one(request: Request) -> Page:
        name = request.path_params["name"]
        if name not in known:
            raise InputError("There is no picture of this name", found=name, allowed=known, remedy="choose one of these")
        job = bench.desk.ask("picture", {"name": name}, lane="long", seconds=bench.desk.limits.seconds, again=True)
        await bench.desk.ended(job, bench.desk.limits.patience)
        found = bench.document(job)
        title = name.replace("_", " ").capitalize()
        if found is None:
            context = {"job": job, "title": title, "name": name, "problem": None, "files": [], "progress": None, "asked": {}}
            return Page("waiting.html", {"state": job.state, "words": job.words}, context, 202)
        context = {"title": found["facts"]["title"], "pictures": pictures(found, job.name), "name": name}
        return Page("picture.html", found["facts"], context, settled=True)

    return [*bench.both("/gallery", listed), *bench.both("/gallery/{name}", one)]
