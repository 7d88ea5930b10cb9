"""Releases: verified under four headings, their cells searched, sorted, looked up and added up; ledgers, to be read alone."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.routing import Route

from discreet.errors import InputError
from discreet.web.bench import Bench, Page, Room, pictures
from discreet.web.found import Lying, found_by_name, lying_in
from discreet.web.keeping import read_json
from discreet.web.typed import whole

ON_A_PAGE = 50
MOST_CHOSEN = 2_000
COLUMNS = ("cell", "size", "published", "mean", "low", "high")


class ReleasesRoom(Room):
    """The list, one release, one cell, a total, one ledger."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        bench.pages.filters["query"] = urlencode
        self.cells_of = lru_cache(maxsize=8)(self._cells)
        self.shared = {
            Lying("ledger", f"shared ledger {number}", ""): address for number, address in enumerate(self.bench.ledgers, start=1)
        }

    def routes(self) -> list[Route]:
        return [
            *self.bench.both("/releases", self.listed),
            *self.bench.both("/releases/{name}/cell", self.cell),
            *self.bench.both("/releases/{name}/total", self.total),
            *self.bench.both("/releases/{name}", self.one),
            *self.bench.both("/ledgers/{name}", self.ledger),
        ]

    def named(self, request: Request, kind: str) -> Lying:
        return found_by_name(self.bench.folder, kind, request.path_params["name"], self.shelf.home)

    def _cells(self, answer: str) -> dict[str, Any]:
        found: dict[str, Any] = read_json(self.shelf.answers / answer / "answer.json")["facts"]
        return found

    async def answered(self, kind: str, item: Lying, **more: Any) -> tuple[str, dict[str, Any] | None]:
        job, found = await self.bench.answered(kind, {"place": item.place, "stamp": item.stamp, **more})
        return job.name, found

    def waiting(self, title: str, item: Lying) -> Page:
        return Page("busy.html", {"state": "running"}, {"title": title, "place": item.place}, 202)

    async def listed(self, request: Request) -> Page:
        releases, ledgers = (lying_in(self.bench.folder, kind, self.shelf.home) for kind in ("release", "ledger"))
        lists = {"releases": releases, "ledgers": [*self.shared, *ledgers]}
        facts = {kind: [{"name": item.name, "place": item.place} for item in items] for kind, items in lists.items()}
        return Page("releases.html", facts, {"title": "Releases", **facts, "folder": self.bench.folder.name})

    async def one(self, request: Request) -> Page:
        item = self.named(request, "release")
        asked = request.query_params
        key = asked.get("key") or None
        name, found = await self.answered("release", item, key=key)
        if found is None:
            return self.waiting("Release", item)
        shown = await self.rows(item, asked.get("search", ""), asked.get("sort", ""), whole(asked.get("page", "1")))
        context = {"title": item.place, "item": item, "answer": found, "pictures": pictures(found, name), "key": key or "", **shown}
        return Page("release.html", {**found["facts"], "table": shown["table"]}, context)

    async def rows(self, item: Lying, search: str, sort: str, page: int) -> dict[str, Any]:
        name, found = await self.answered("table", item)
        if found is None:
            return {"table": None, "search": search, "sort": sort, "page": 1, "pages": 1, "keys": []}
        table = self.cells_of(name)
        listed = [{**row, "place": place} for place, row in enumerate(table["cells"])]
        if search:
            listed = [row for row in listed if search.casefold() in row["cell"].casefold()]
        column, down = sort.removeprefix("-"), sort.startswith("-")
        if column in COLUMNS:
            listed.sort(key=lambda row: (row[column] is None, row[column] if row[column] is not None else 0), reverse=down)
        pages = max(1, -(-len(listed) // ON_A_PAGE))
        page = min(max(1, page), pages)
        part = listed[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]
        shown = {"cells": len(table["cells"]), "found": len(listed), "rows": part}
        return {"table": shown, "search": search, "sort": sort, "page": page, "pages": pages, "keys": table["keys"]}

    async def cell(self, request: Request) -> Page:
        item = self.named(request, "release")
        place = whole(request.query_params.get("place", "0"))
        name, listed = await self.answered("table", item)
        if listed is None:
            return self.waiting("Cell", item)
        table = self.cells_of(name)
        if not 0 <= place < len(table["cells"]):
            most = len(table["cells"])
            raise InputError("There is no cell at this place", found=place, allowed=f"below {most}", remedy="follow a link")
        values = table["cells"][place]["keys"]
        _, found = await self.answered(
            "cell", item, where=[f"{key}={value}" for key, value in zip(table["keys"], values, strict=True)]
        )
        if found is None:
            return self.waiting("Cell", item)
        context = {"title": table["cells"][place]["cell"], "item": item, "answer": found}
        return Page("cell.html", found["facts"], context, settled=False)

    async def total(self, request: Request) -> Page:
        item = self.named(request, "release")
        given = request.query_params.getlist("cell")[:MOST_CHOSEN]
        chosen = sorted({whole(text) for text in given})
        _, found = await self.answered("total", item, chosen=chosen)
        if found is None:
            return self.waiting("Total", item)
        return Page("total.html", found["facts"], {"title": "Total", "item": item, "answer": found})

    async def ledger(self, request: Request) -> Page:
        database = next((item for item in self.shared if item.name == request.path_params["name"]), None)
        if database is not None:  # asked anew each time, and not kept: its address may hold a password
            facts = await self.desk.reply("ledger", {"address": self.shared[database]})
            return Page("ledger.html", facts["facts"], {"title": database.place, "item": database, "answer": facts})
        item = self.named(request, "ledger")
        _, found = await self.answered("ledger", item)
        if found is None:
            return self.waiting("Ledger", item)
        return Page("ledger.html", found["facts"], {"title": item.place, "item": item, "answer": found})
