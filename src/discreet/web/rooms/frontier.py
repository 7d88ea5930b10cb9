"""What accuracy costs: a frontier that answers at once from solved points and is refined in the background while one looks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from discreet.model.promises import LETTERS
from discreet.views.frontier_moves import move_view, reach_view
from discreet.views.plain import plain
from discreet.web.bench import Bench, Page, Room, pictures
from discreet.web.keeping import must_be_name
from discreet.web.questions import told_document
from discreet.web.refining import FIRST, Refining, kind_of
from discreet.web.typed import amount

STEPS = 20
"""Of the slider, for as much as the problem's own level."""
HIGHEST = 50


class FrontierRoom(Room):
    """The frontier of a problem, moves along it, and more points."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.refining = Refining(self.bench)

    def routes(self) -> list[Route]:
        return [
            *self.bench.both("/frontier/{name}/at", self.move),
            *self.bench.both("/frontier/{name}", self.shown),
            self.bench.got("/frontier/{name}/events", self.events),
            self.bench.posted("/frontier/{name}", self.more),
        ]

    def asked_for(self, request: Request) -> tuple[str, str, str]:
        """The problem, its text, and whether it promises ε or ρ."""
        name = must_be_name(request.path_params["name"])
        text = self.shelf.problem(name)
        return name, text, kind_of(text)

    async def shown(self, request: Request) -> Page:
        name, text, kind = self.asked_for(request)
        self.refining.look(name, kind)
        solved = self.refining.points(name, kind)
        stopped = self.refining.stopped.get((name, kind))
        state = "refining" if self.refining.active(name, kind) else "fine" if stopped is None else stopped.state
        words = "" if stopped is None else stopped.words
        facts: dict[str, Any] = {"problem": name, "state": state, "words": words, "solved": len(solved)}
        context: dict[str, Any] = {"title": "What accuracy costs", "name": name, "state": state, "words": words, "solved": solved,
                                   "key": kind, "letter": LETTERS[kind], "alone": self.refining.alone.get(name, "")}  # fmt: skip
        if solved:
            levels = [str(point["level"]) for point in solved]
            paired = [level for level in self.refining.paired(name) if level in levels]
            arguments = {"toml": text, "problem": name, "kind": kind, "levels": levels, "beside": paired}
            job, found = await self.bench.answered("frontier", arguments)
            facts |= {} if found is None else found["facts"]
            own = next((Fraction(point["level"]) for point in solved if point["own"]), Fraction(levels[len(levels) // 2]))
            at, loss = request.query_params.get(kind), request.query_params.get("loss") or ""
            here = amount(at, LETTERS[kind], 0, HIGHEST) if at else own
            view = reach_view(solved, float(amount(loss, "loss", -1e12, 1e12)), kind) if loss else move_view(solved, here, kind)
            context |= {
                "answer": found, "pictures": [] if found is None else pictures(found, job.name),
                "level": float(here), "loss": loss, "step": float(own / STEPS),
                "top": float(max(own * max(FIRST), Fraction(levels[-1]))),
                "move": told_document(view),
            }  # fmt: skip
        return Page("frontier.html", facts, context)

    async def move(self, request: Request) -> Page:
        name, _, kind = self.asked_for(request)
        asked = request.query_params
        solved = self.refining.points(name, kind)
        if asked.get("loss"):
            view = reach_view(solved, float(amount(asked["loss"], "loss", -1e12, 1e12)), kind)
            self.refining.look(name, kind, between(view.facts["too_small"], view.facts["enough"]))
        else:
            level = amount(asked.get(kind) or "1", LETTERS[kind], 0, HIGHEST)
            view = move_view(solved, level, kind)
            self.refining.look(name, kind, level)
        return Page(
            "move.html", plain(view.facts), {"move": told_document(view), "name": name, "more": self.refining.active(name, kind)}
        )

    async def more(self, request: Request, fields: dict[str, str]) -> Response:
        name, _, kind = self.asked_for(request)
        if fields.get(kind):
            self.refining.wanted[name, kind] = amount(fields[kind], LETTERS[kind], 0, HIGHEST)
        self.refining.again(name, kind)
        return self.bench.see(request, f"/frontier/{name}", {"problem": name, "state": "refining"})

    async def events(self, request: Request) -> Response:
        name, _, kind = self.asked_for(request)

        async def lines() -> AsyncIterator[str]:
            yield "retry: 2000\n\n"
            told = -1
            while True:
                changed, active = self.refining.changed, self.refining.active(name, kind)
                solved = len(self.refining.points(name, kind))
                if solved != told:
                    told = solved
                    yield f"data: {json.dumps({'solved': solved})}\n\n"
                if not active:
                    yield f"event: ended\ndata: {json.dumps({'solved': solved})}\n\n"
                    return
                await changed.wait()

        return StreamingResponse(lines(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


def between(short: Fraction | None, enough: Fraction | None) -> Fraction | None:
    """Where a point would tell more about the ε that a loss needs; None where the ends are not known or near each other."""
    if short is None or enough is None or enough - short <= enough / 50:
        return None
    return (short + enough) / 2
