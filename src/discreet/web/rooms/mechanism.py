"""Reading, wrong priors and guarantees: what a published value means, what following costs, and what is promised."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from discreet.errors import InputError
from discreet.web.bench import Page, Room, pictures
from discreet.web.desk import Failed
from discreet.web.keeping import must_be_name
from discreet.web.typed import whole

LEVELS = ("0.5", "0.8", "0.9", "0.95", "0.99")
RADII = ("5%", "10%", "25%")
SECONDS = 60.0
PARTS = 4
"""The best mechanism is looked for at about so many priors."""
SURE = ("0.01", "0.1", "0.5", "0.9")


class MechanismRoom(Room):
    """Three pages about a design."""

    def routes(self) -> list[Route]:
        return [
            *self.bench.both("/design/{name}/reading", self.reading),
            *self.bench.both("/design/{name}/guarantees", self.guarantees),
            *self.bench.both("/design/{name}/regret", self.regret),
        ]

    async def about(self, request: Request, kind: str, template: str, arguments: dict[str, Any], more: dict[str, Any]) -> Page:
        name = must_be_name(request.path_params["name"])
        self.shelf.found(name)
        job, found = await self.bench.answered(kind, {"subject": name, **arguments})
        context = {"name": name, "job": job, "answer": found, **more, "title": kind.capitalize()}
        if found is None:
            waiting = {**context, "problem": None, "files": [], "progress": None}
            return Page("waiting.html", {"state": job.state}, waiting, 202)
        return Page(template, found["facts"], {**context, "pictures": pictures(found, job.name)}, settled=True)

    async def reading(self, request: Request) -> Page:
        asked = request.query_params
        prior = asked.get("prior", "").strip().replace("\r\n", "\n") or None
        arguments = {"output": asked.get("output"), "level": asked.get("level") or "0.9", "prior": prior}
        return await self.about(request, "reading", "reading.html", arguments, {"asked": arguments, "levels": LEVELS})

    async def guarantees(self, request: Request) -> Page:
        asked = request.query_params
        arguments = {
            "sure": asked.get("sure") or "0.5",
            "delta": asked.get("delta") or "1e-6",
            "size": whole(asked.get("size") or "1"),
        }
        return await self.about(request, "guarantees", "guarantees.html", arguments, {"asked": arguments, "choices": SURE})

    async def regret(self, request: Request) -> Page:
        name, radius = must_be_name(request.path_params["name"]), request.query_params.get("radius") or RADII[1]
        self.shelf.found(name)
        if radius not in RADII:
            raise InputError("A prior moves by one of a few shares here", found=radius, allowed=list(RADII), remedy="choose one")
        seconds = min(SECONDS, self.desk.limits.seconds)
        arguments = {"subject": name, "radius": radius, "seconds": seconds / PARTS}
        job = self.desk.ask("regret", arguments, lane="long", seconds=seconds)
        await self.desk.ended(job, self.desk.limits.patience)
        if job.state == "failed" and job.refused:
            raise Failed(job.words, job.refused)
        found = self.bench.document(job)
        context = {"name": name, "job": job, "answer": found, "title": "Wrong prior", "radius": radius, "choices": RADII}
        if found is None:
            waiting = {**context, "problem": None, "files": [], "progress": None}
            return Page("waiting.html", {"state": job.state, "words": job.words}, waiting, 202)
        return Page("regret.html", found["facts"], context, settled=True)
