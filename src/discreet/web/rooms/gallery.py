"""The gallery: one page for each picture that `discreet.gallery` draws."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import Route

from discreet.gallery.picture import PAPERS
from discreet.gallery.picture import picture as by_name
from discreet.gallery.picture import pictures as known_pictures
from discreet.web.bench import Bench, Page, Room, pictures


class GalleryRoom(Room):
    """The list by paper, and one picture; what is listed is read without loading what draws it."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.known = known_pictures()
        self.papers = [(title, [p for p in self.known.values() if p.paper == key]) for key, title in PAPERS.items()]

    def routes(self) -> list[Route]:
        return [*self.bench.both("/gallery", self.listed), *self.bench.both("/gallery/{name}", self.one)]

    async def listed(self, request: Request) -> Page:
        return Page("gallery.html", {"pictures": list(self.known)}, {"title": "Gallery", "papers": self.papers})

    async def one(self, request: Request) -> Page:
        asked = by_name(request.path_params["name"])
        name = asked.name
        job = self.desk.ask("picture", {"name": name}, lane="long", seconds=self.desk.limits.seconds, again=True)
        await self.desk.ended(job, self.desk.limits.patience)
        found = self.bench.document(job)
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
