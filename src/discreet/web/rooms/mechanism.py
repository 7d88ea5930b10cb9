"""Reading and guarantees: what a published value means, and what is promised, for a design that was made here."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from discreet.web.bench import Bench, Page, pictures
from discreet.web.keeping import must_be_name
from discreet.web.typed import whole

LEVELS = ("0.5", "0.8", "0.9", "0.95", "0.99")
SURE = ("0.01", "0.1", "0.5", "0.9")


def routes(bench: Bench) -> list[Route]:
    """Two pages about a design."""

    async def about(request: Request, kind: str, template: str, arguments: dict[str, Any], more: dict[str, Any]) -> Page:
        name = must_be_name(request.path_params["name"])
        bench.shelf.found(name)
        job, found = await bench.answered(kind, {"subject": name, **arguments})
        context = {"name": name, "job": job, "answer": found, **more, "title": kind.capitalize()}
        if found is None:
            waiting = {**context, "problem": None, "files": [], "progress": None}
            return Page("waiting.html", {"state": job.state}, waiting, 202)
        return Page(template, found["facts"], {**context, "pictures": pictures(found, job.name)}, settled=True)

    async def reading(request: Request) -> Page:
        asked = request.query_params
        prior = asked.get("prior", "").strip().replace("\r\n", "\n") or None
        arguments = {"output": asked.get("output"), "level": asked.get("level") or "0.9", "prior": prior}
        return await about(request, "reading", "reading.html", arguments, {"asked": arguments, "levels": LEVELS})

    async def guarantees(request: Request) -> Page:
        asked = request.query_params
        arguments = {
            "sure": asked.get("sure") or "0.5",
            "delta": asked.get("delta") or "1e-6",
            "size": whole(asked.get("size") or "1"),
        }
        return await about(request, "guarantees", "guarantees.html", arguments, {"asked": arguments, "choices": SURE})

    return [*bench.both("/design/{name}/reading", reading), *bench.both("/design/{name}/guarantees", guarantees)]
