"""The workbench: what the first view weighs, how fast a move along a frontier is, and solved pages against a bare Starlette page.

Prints bytes over the wire and requests of the first view, milliseconds of server time of a move from solved points, and the
throughput of a solved design's page as a ratio to a bare Starlette page of the same size, both in this process without a network.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discreet.web.app import Served, workbench
from discreet.web.desk import Limits
from discreet.web.forms import FIELDS, toml_of

ROUNDS = 3000
SMALL = toml_of({**FIELDS, "respondents": "6", "values": "0, 1", "probabilities": "0.7, 0.3", "actions": "integer"})


async def asked(app: Any, path: str, query: str = "") -> tuple[int, bytes, dict[str, str]]:
    """One request without a network."""
    sent: list[dict[str, Any]] = []
    headers = [(b"host", b"127.0.0.1"), (b"accept-encoding", b"gzip")]
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "headers": headers, "http_version": "1.1",
        "scheme": "http", "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:]), named


async def rate(app: Any, path: str) -> float:
    """Requests answered in a second of this process."""
    await asked(app, path)
    begun = time.process_time()
    for _ in range(ROUNDS):
        await asked(app, path)
    return ROUNDS / (time.process_time() - begun)


async def first_view(served: Served) -> None:
    """The weight of the first page with all that it loads."""
    for path, query in (("/", ""), ("/problem", "example=school-places")):
        _, body, headers = await asked(served.app, path, query)
        whole = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        wanted = re.findall(r'(?:src|href)="(/assets/[^"]+)"', whole.decode())
        weights = [len(body), *[len((await asked(served.app, place))[1]) for place in wanted]]
        print(f"first view {path:<9} {sum(weights) / 1000:7.1f} KB over the wire in {len(weights)} requests (at most 400 and 12)")


async def main() -> None:
    """All three."""
    with tempfile.TemporaryDirectory() as folder:
        served = workbench(Path(folder), Limits(workers=1))
        bench = served.bench
        await bench.desk.start()
        try:
            await first_view(served)
            problem = bench.shelf.keep_problem(SMALL)
            base = {"toml": SMALL, "problem": problem, "kind": "epsilon", "levels": ["1/2", "1", "2"], "seconds": 60.0}
            await bench.desk.ended(bench.desk.ask("points", base, lane="long", seconds=60.0))
            times = []
            for step in range(1, 41):
                begun = time.perf_counter()
                status, _, _ = await asked(served.app, f"/frontier/{problem}/at", f"epsilon={step / 20}")
                assert status == 200
                times.append(1000 * (time.perf_counter() - begun))
            print(f"move along the frontier  median {sorted(times)[20]:.2f} ms, slowest {max(times):.2f} ms (at most 100 ms)")
            job = bench.desk.ask("design", {"toml": SMALL, "gap": "1e-4", "seconds": 30.0}, lane="long", seconds=30.0)
            await bench.desk.ended(job)
            _, page, _ = await asked(served.app, f"/design/{job.name}")

            async def bare(_: Request) -> Response:
                return Response(page, headers={"content-encoding": "gzip"}, media_type="text/html")

            plain = await rate(Starlette(routes=[Route("/", bare)]), "/")
            ours = await rate(served.app, f"/design/{job.name}")
            print(f"solved page of {len(page):,} bytes: {ours:,.0f} a second, bare Starlette {plain:,.0f}")
            print(f"ratio {ours / plain:.2f} (at least 0.7)")
            print(json.dumps({"ratio": round(ours / plain, 2), "move_ms": round(sorted(times)[20], 2)}))
        finally:
            await bench.desk.close()


if __name__ == "__main__":
    asyncio.run(main())
