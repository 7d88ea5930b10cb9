"""A browser for tests: Chromium without a screen, which reaches the workbench alone and writes down every complaint."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # fmt: skip
PATIENCE = 600_000
"""Milliseconds: a slow machine is no failure."""
WIDE, NARROW = 1440, 360


@dataclass
class Window:
    """A page with what it complained about and what it asked of others."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)


def program() -> str:
    """Where Chromium is."""
    found = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    assert found is not None, "the mark needs_chromium looks for it"
    return found


@contextmanager
def started() -> Iterator[Browser]:
    """One browser."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program(), args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


@contextmanager
def window(browser: Browser, address: str, width: int = WIDE, scheme: str = "light", **options: Any) -> Iterator[Window]:
    """A window that reaches nothing but `address`."""
    context: BrowserContext = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    seen = Window(page)

    own = (address, "data:", "blob:")
    page.on("request", lambda asked: None if asked.url.startswith(own) else seen.strangers.append(asked.url))
    page.on("console", lambda message: seen.complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    yield seen
    context.close()


def kept(page: Page, name: str, folder: Path | None) -> None:
    """A picture of the page, where somebody wants to look at it."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", full_page=True)
