"""`discreet serve`: the workbench on an address, until it is told to end."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from discreet.errors import InputError, MissingExtra
from discreet.web.desk import Limits
from discreet.web.guard import Door, is_loopback

MOST_AT_ONCE = 200


def entrance(host: str, port: int, token: str | None, limits: Limits) -> Door:
    """The door for an address: loopback needs no token, any other address gets one even if none was given."""
    if not 0 <= port < 65536:
        raise InputError("A port is a small whole number", found=port, allowed="0 to 65535", remedy="leave --port out")
    if token is not None and not re.fullmatch("[A-Za-z0-9._~-]{16,200}", token):
        raise InputError(
            "This token is too short or has signs that addresses cannot hold",
            found=f"{len(token)} characters",
            allowed="16 or more letters and digits",
            remedy="leave --token out and one is made",
        )
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    return Door(host=host, port=port, token=token, body=limits.body)


def serve(folder: Path, door: Door, limits: Limits, ready: Callable[[str], None], ledgers: Sequence[str] = ()) -> None:
    """Serve until interrupted; `ready` is told the address once it can be opened. `ledgers` are databases to be read."""
    wrong = [place for place in ledgers if not place.startswith(("postgresql://", "postgres://"))]
    if wrong:
        raise InputError(
            "A ledger in a file is found in the folder that is served",
            found=f"{len(wrong)} places that are no database",
            allowed="--ledger postgresql://…",
            remedy="put the file into the folder, or serve the folder that it lies in",
        )
    try:
        import uvicorn

        from discreet.web.app import workbench
    except ImportError:
        raise MissingExtra("web", needed_for="the workbench in the browser") from None
    served = workbench(folder, limits, door, ledgers)
    configuration = uvicorn.Config(
        served.app,
        host=door.host,
        port=door.port,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        limit_concurrency=MOST_AT_ONCE,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=2,
        ws="none",
        lifespan="on",
        h11_max_incomplete_event_size=16 << 10,
        proxy_headers=False,
    )
    server = _Announced(configuration, door, ready)
    server.run()
    if not server.started:
        raise InputError(
            "The workbench could not listen",
            found=f"{door.host}, port {door.port}",
            allowed="a free port on an address of this machine",
            remedy="choose another with --port, or 0 for any free one",
        )


def address_of(door: Door, port: int) -> str:
    """What to open in a browser; with the token that this address needs."""
    host = f"[{door.host}]" if ":" in door.host else door.host
    return f"http://{host}:{port}/" + ("" if door.token is None else f"?token={door.token}")


try:
    from uvicorn import Server as _Server
except ImportError:  # the extra is asked for in words when it is needed
    _Server = object  # type: ignore[assignment, misc]


class _Announced(_Server):
    """A server that says where it listens."""

    def __init__(self, configuration: object, door: Door, ready: Callable[[str], None]) -> None:
        super().__init__(configuration)  # type: ignore[arg-type]
        self.door, self.ready = door, ready

    async def startup(self, sockets: object = None) -> None:
        """Begin to listen, then say so."""
        try:
            await super().startup(sockets)  # type: ignore[arg-type]
        except SystemExit:  # the port is taken; `serve` says so in words
            self.should_exit = True
            return
        if self.started:
            self.ready(address_of(self.door, self.servers[0].sockets[0].getsockname()[1]))
