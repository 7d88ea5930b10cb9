"""Work: what is being answered and what waits, events as they come, pictures, stopping and asking again."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from discreet.errors import InputError
from discreet.web.bench import Page, Room
from discreet.web.desk import Job
from discreet.web.keeping import must_be_name, read_json

LISTED = 40
LANES = {"design": "long", "family": "long", "picture": "long", "regret": "long", "points": "background"}
"""Kinds of questions that are work, and their lanes; the others are quick."""
CALLED = {"design": "Design:", "family": "Designs for cells:", "points": "Frontier:", "picture": "Picture:", "report": "Report:",
          "regret": "Wrong priors:"}  # fmt: skip
NAMED = re.compile(r'^name = "([^"\\]{1,60})"', re.MULTILINE)


class WorkRoom(Room):
    """The list of work, and one piece of it."""

    def routes(self) -> list[Route]:
        return [
            *self.bench.both("/jobs", self.listed),
            self.bench.got("/jobs/{name}/events", self.events),
            self.bench.got("/jobs/{name}/figures/{place:int}.json", self.figure),
            self.bench.posted("/jobs/{name}/stop", self.stop),
            self.bench.posted("/jobs/{name}/again", self.again),
        ]

    async def listed(self, request: Request) -> Page:
        own = [job for job in self.desk.jobs.values() if job.kind in LANES]
        rows = [{"name": job.name, "kind": job.kind, "state": job.state, "words": job.words, "events": len(job.events),
                 "place": place_of(job), "called": called(job)} for job in reversed(own[-LISTED:])]  # fmt: skip
        gone = [job for job in map(self.desk.job, self.desk.lost) if job.state == "lost"]
        lost = [{"name": job.name, "kind": job.kind, "place": place_of(job), "called": called(job)} for job in gone]
        facts = {"work": rows, "lost": lost, "workers": self.desk.limits.workers, "room": self.desk.limits.waiting}
        return Page("work.html", facts, {"rows": rows, "lost": lost, "title": "Work"})

    async def events(self, request: Request) -> Response:
        job = self.desk.job(must_be_name(request.path_params["name"]))
        last = request.headers.get("last-event-id", "")
        first = int(last) + 1 if last.isdigit() and len(last) < 9 else 0

        async def lines() -> AsyncIterator[str]:
            yield "retry: 2000\n\n"
            async for place, event in self.desk.events(job, first):
                yield f"id: {place}\ndata: {json.dumps(event)}\n\n"
            yield f"event: ended\ndata: {json.dumps({'state': job.state})}\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    async def figure(self, request: Request) -> Response:
        folder = self.shelf.found(request.path_params["name"])
        place = request.path_params["place"]
        found = read_json(folder / "answer.json").get("figures", [])
        if not 0 <= place < len(found):
            raise InputError("There is no picture of this number", found=place, allowed=f"below {len(found)}", remedy="reload")
        page = Page("", {}, settled=True)
        return self.bench.response(request, json.dumps(found[place]["specification"]).encode(), "application/json", page)

    async def stop(self, request: Request, fields: dict[str, str]) -> Response:
        job = self.desk.job(must_be_name(request.path_params["name"]))
        self.desk.stop(job)
        return self.bench.see(request, place_of(job), {"state": job.state})

    async def again(self, request: Request, fields: dict[str, str]) -> Response:
        old = self.desk.job(must_be_name(request.path_params["name"]))
        lane = LANES.get(old.kind, "quick")
        seconds = None if lane == "quick" else float(old.arguments.get("seconds", self.desk.limits.seconds))
        job = self.desk.ask(old.kind, old.arguments, lane=lane, seconds=seconds, again=True)
        return self.bench.see(request, place_of(job), {"state": job.state})


def called(job: Job) -> str:
    """A piece of work as people know it: what is done, and the name of the problem or picture."""
    named = NAMED.search(str(job.arguments.get("toml", "")))
    about = named.group(1) if named else job.arguments.get("name") or job.name
    level = " ".join(job.arguments["levels"]) if job.kind == "points" else ""
    return f"{CALLED.get(job.kind, job.kind)} {about}{', at ' + level if level else ''}"


def place_of(job: Job) -> str:
    """Where the answer of a piece of work is seen."""
    places = {
        "design": f"/design/{job.name}", "family": f"/design/{job.name}",
        "points": f"/frontier/{job.arguments.get('problem')}", "picture": f"/gallery/{job.arguments.get('name')}",
        "report": f"/design/{job.arguments.get('subject')}/report",
        "reading": f"/design/{job.arguments.get('subject')}/reading",
        "guarantees": f"/design/{job.arguments.get('subject')}/guarantees",
        "regret": f"/design/{job.arguments.get('subject')}/regret",
    }  # fmt: skip
    return places.get(job.kind, "/jobs")
