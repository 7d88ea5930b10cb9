"""Styles and scripts: ours, and vendored ones exactly as published (vendor/README.md), all compressed and named by their hash."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

OURS = ("workbench.css", "workbench.js")
VENDORED = {
    "htmx.js": ("htmx-2.0.11.min.js.gz", "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"),
    "vega.js": ("vega-5.33.1.min.js.gz", "463f3db6a40b20e9747b4ed38f37ed0add508838f9141b1cf8366784b07b30c8"),
    "vega-lite.js": ("vega-lite-5.23.0.min.js.gz", "58c27358e26f2d319cf62f45bc17a4c8362f08645001df2ec8d341eee4097c7f"),
    "vega-interpreter.js": ("vega-interpreter-1.2.1.min.js.gz", "ee191cf04168e0c043214cea7c4e5ef80e908daa0e757c19c8061df5f898cf89"),
}
"""What each vendored script is called here, its file, and the SHA-256 of the script inside."""
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Asset:
    """A file for the browser: as it is, and compressed."""

    whole: bytes
    small: bytes

    @property
    def tag(self) -> str:
        """The beginning of its hash, which is part of its address."""
        return hashlib.sha256(self.whole).hexdigest()[:12]


@cache
def asset(name: str) -> Asset:
    """A style sheet or script by the name it has here."""
    here = resources.files("discreet.web")
    if name in OURS:
        whole = here.joinpath("static", name).read_bytes()
        return Asset(whole, gzip.compress(whole, 9, mtime=0))
    small = here.joinpath("vendor", VENDORED[name][0]).read_bytes()
    return Asset(gzip.decompress(small), small)


def address(name: str) -> str:
    """Where the browser finds it; another content has another address, so it may be kept for ever."""
    return f"/assets/{asset(name).tag}/{name}"


def assets() -> list[Route]:
    """The one route of all of them."""

    async def served(request: Request) -> Response:
        name = request.path_params["name"]
        if (name not in OURS and name not in VENDORED) or request.path_params["tag"] != asset(name).tag:
            return Response("There is no such file.", 404, media_type="text/plain")
        found = asset(name)
        headers = {"cache-control": FOREVER, "vary": "accept-encoding"}
        kind = KINDS[name.rpartition(".")[2]]
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(found.small, headers={**headers, "content-encoding": "gzip"}, media_type=kind)
        return Response(found.whole, headers=headers, media_type=kind)

    return [Route("/assets/{tag}/{name}", served, methods=["GET"])]
