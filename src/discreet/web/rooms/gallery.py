"""The gallery: one page for each picture that `discreet.gallery` draws."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import Route

from discreet.gallery.picture import PAPERS
from discreet.gallery.picture import picture as by_name
from discreet.gallery.picture import pictures as known_pictures
from discreet.web.bench import Bench, Page, pictures


def routes(bench: Bench) -> list[Route]:
    """The list by paper, and one picture; what is listed is read without loading what draws it."""
    known = known_pictures()
    papers = [(title, [p for p in known.values() if p.paper == key]) for key, title in PAPERS.items()]

    async def listed(request: Request) -> Page:
        return Page("gallery.html", {"pictures": list(known)}, {"title": "Gallery", "papers": papers})

    async def one(request: Request) -> Page:
        asked = by_name(request.path_params["name"])
        name = asked.name
        job = bench.desk.ask("picture", {"name": name}, lane="long", seconds=bench.desk.limits.seconds, again=True)
        await bench.desk.ended(job, bench.desk.limits.patience)
        found = bench.document(job)
        if found is None:
            context = {"job": job, "title": asked.title, "name": name, "problem": None, "files": [], "progress": None, "asked": {}}
            return Page("waiting.html", {"state": job.state, "words": job.words}, context, 202)
        context = {
            "title": asked.title,
            "pictures": pictures(found, job.name),
            "picture": asked,
            "numbers": found["facts"]["numbers"],
        }
        return Page("picture.html", found["facts"], context, settled=True)

    return [*bench.both("/gallery", listed), *bench.both("/gallery/{name}", one)]
