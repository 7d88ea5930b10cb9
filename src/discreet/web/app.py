"""The application: every room's pages behind the guard, and how it is served."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from discreet.web.assets import assets
from discreet.web.bench import Bench, Page, SettledPages
from discreet.web.desk import Desk, Limits
from discreet.web.guard import Door, Guard, TooMuchError
from discreet.web.keeping import Shelf
from discreet.web.rooms.design import DesignRoom
from discreet.web.rooms.frontier import FrontierRoom
from discreet.web.rooms.gallery import GalleryRoom
from discreet.web.rooms.mechanism import MechanismRoom
from discreet.web.rooms.plain_files import PlainFilesRoom
from discreet.web.rooms.problem import ProblemRoom
from discreet.web.rooms.releases import ReleasesRoom
from discreet.web.rooms.work import WorkRoom

ROOMS = (ProblemRoom, MechanismRoom, DesignRoom, FrontierRoom, ReleasesRoom, GalleryRoom, WorkRoom, PlainFilesRoom)
HOME = "workbench"
"""The folder, inside the one that is served, in which the workbench keeps what it makes."""


@dataclass(frozen=True)
class Served:
    """An application with the bench behind it."""

    app: Guard
    bench: Bench


def workbench(folder: str | Path, limits: Limits | None = None, door: Door | None = None, ledgers: Sequence[str] = ()) -> Served:
    """The workbench over a folder: problems, designs and answers are kept in it, releases and ledgers are found in it.

    `ledgers` are addresses of ledgers in databases, to be read alone.
    """
    bounds = Limits() if limits is None else limits
    entrance = Door(body=bounds.body) if door is None else door
    where = Path(folder).resolve()
    shelf = Shelf(where / HOME).prepared()
    bench = Bench(entrance, Desk(shelf, bounds), where, tuple(ledgers))

    @asynccontextmanager
    async def open_hours(app: Starlette) -> AsyncIterator[None]:
        await bench.desk.start()
        try:
            yield
        finally:
            await bench.desk.close()

    async def no_such_page(request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 404
        words = "There is no page at this address." if code == 404 else "This address cannot be asked in this way."
        return bench.page_response(request, Page("error.html", {"error": words}, {"title": "Not here", "words": words}, code))

    async def too_much(request: Request, error: Exception) -> Response:
        page = Page("error.html", {"error": str(error)}, {"title": "Too much", "words": str(error)}, 413)
        answer = bench.page_response(request, page)
        answer.headers["connection"] = "close"
        return answer

    async def broken(request: Request, error: Exception) -> Response:
        sys.stderr.write(f"discreet serve: {type(error).__name__} at {request.url.path!r}\n")
        words = "Something went wrong here. Nothing was lost; the server goes on."
        return bench.page_response(request, Page("error.html", {"error": words}, {"title": "An error", "words": words}, 500))

    routes = [route for room in ROOMS for route in room(bench).routes()]
    inner = Starlette(
        routes=[*assets(), *routes],
        lifespan=open_hours,
        exception_handlers={HTTPException: no_such_page, TooMuchError: too_much, Exception: broken},
    )
    return Served(Guard(SettledPages(inner, bench), entrance), bench)
