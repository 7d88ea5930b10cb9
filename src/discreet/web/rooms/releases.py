"""Releases: verified under four headings, their cells searched, sorted, looked up and added up; ledgers, to be read alone."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.routing import Route

from discreet.errors import InputError
from discreet.web.bench import Bench, Page, pictures
from discreet.web.found import Lying, found_by_name, lying_in
from discreet.web.keeping import read_json
from discreet.web.typed import whole

ON_A_PAGE = 50
MOST_CHOSEN = 2_000
COLUMNS = ("cell", "size", "published", "mean", "low", "high")


def routes(bench: Bench) -> list[Route]:
    """The list, one release, one cell, a total, one ledger."""
    shared = {Lying("ledger", f"shared ledger {number}", ""): address for number, address in enumerate(bench.ledgers, start=1)}

    def named(request: Request, kind: str) -> Lying:
        return found_by_name(bench.folder, kind, request.path_params["name"], bench.shelf.home)

    @lru_cache(maxsize=8)
    def cells_of(answer: str) -> dict[str, Any]:
        found: dict[str, Any] = read_json(bench.shelf.answers / answer / "answer.json")["facts"]
        return found

    async def answered(kind: str, item: Lying, **more: Any) -> tuple[str, dict[str, Any] | None]:
        job, found = await bench.answered(kind, {"place": item.place, "stamp": item.stamp, **more})
        return job.name, found

    def waiting(title: str, item: Lying) -> Page:
        return Page("busy.html", {"state": "running"}, {"title": title, "place": item.place}, 202)

    async def listed(request: Request) -> Page:
        both = {kind: [{"name": item.name, "place": item.place} for item in lying_in(bench.folder, kind, bench.shelf.home)]
                for kind in ("release", "ledger")}  # fmt: skip
        named_ones = [{"name": item.name, "place": item.place} for item in shared]
        facts = {"releases": both["release"], "ledgers": [*named_ones, *both["ledger"]]}
        return Page("releases.html", facts, {"title": "Releases", **facts, "folder": bench.folder.name})

    async def one(request: Request) -> Page:
        item = named(request, "release")
        asked = request.query_params
        key = asked.get("key") or None
        name, found = await answered("release", item, key=key)
        if found is None:
            return waiting("Release", item)
        shown = await rows(item, asked.get("search", ""), asked.get("sort", ""), whole(asked.get("page", "1")))
        context = {"title": item.place, "item": item, "answer": found, "pictures": pictures(found, name), "key": key or "", **shown}
        return Page("release.html", {**found["facts"], "table": shown["table"]}, context)

    async def rows(item: Lying, search: str, sort: str, page: int) -> dict[str, Any]:
        name, found = await answered("table", item)
        if found is None:
            return {"table": None, "search": search, "sort": sort, "page": 1, "pages": 1, "keys": []}
        table = cells_of(name)
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

    async def cell(request: Request) -> Page:
        item = named(request, "release")
        place = whole(request.query_params.get("place", "0"))
        name, listed = await answered("table", item)
        if listed is None:
            return waiting("Cell", item)
        table = cells_of(name)
        if not 0 <= place < len(table["cells"]):
            most = len(table["cells"])
            raise InputError("There is no cell at this place", found=place, allowed=f"below {most}", remedy="follow a link")
        values = table["cells"][place]["keys"]
        _, found = await answered("cell", item, where=[f"{key}={value}" for key, value in zip(table["keys"], values, strict=True)])
        if found is None:
            return waiting("Cell", item)
        context = {"title": table["cells"][place]["cell"], "item": item, "answer": found}
        return Page("cell.html", found["facts"], context, settled=False)

    async def total(request: Request) -> Page:
        item = named(request, "release")
        given = request.query_params.getlist("cell")[:MOST_CHOSEN]
        chosen = sorted({whole(text) for text in given})
        _, found = await answered("total", item, chosen=chosen)
        if found is None:
            return waiting("Total", item)
        return Page("total.html", found["facts"], {"title": "Total", "item": item, "answer": found})

    async def ledger(request: Request) -> Page:
        database = next((item for item in shared if item.name == request.path_params["name"]), None)
        if database is not None:  # asked anew each time, and not kept: its address may hold a password
            facts = await bench.desk.reply("ledger", {"address": shared[database]})
            return Page("ledger.html", facts["facts"], {"title": database.place, "item": database, "answer": facts})
        item = named(request, "ledger")
        _, found = await answered("ledger", item)
        if found is None:
            return waiting("Ledger", item)
        return Page("ledger.html", found["facts"], {"title": item.place, "item": item, "answer": found})

    bench.pages.filters["query"] = lambda pairs: urlencode(pairs)
    return [
        *bench.both("/releases", listed), *bench.both("/releases/{name}/cell", cell), *bench.both("/releases/{name}/total", total),
        *bench.both("/releases/{name}", one), *bench.both("/ledgers/{name}", ledger),
    ]  # fmt: skip
