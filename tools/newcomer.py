"""A newcomer at the workbench, by mouse alone: from the first page to the school-planning optimum and its report, timed.

`python tools/newcomer.py [FOLDER]` starts `discreet serve` over an empty folder, clicks through it in a headless Chromium that
reaches nothing else, and prints how long each step took since the first page was asked for. Where a folder is named, pictures and a
recording of every step (which `playwright show-trace` opens) are kept there. It fails where optimum or report are not reached.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from crowd import served

PATIENCE = 300_000
"""Milliseconds: what is measured is said, not demanded."""
OPTIMUM = 2.3259
"""The least loss of school planning with 40 households at ε = 1, as the papers have it, in four decimals."""


def walk(page: Page, address: str, folder: Path | None) -> dict[str, float]:
    """Click, and say after how many seconds each step was reached."""
    begun, reached = time.monotonic(), {}

    def step(name: str) -> None:
        reached[name] = round(time.monotonic() - begun, 1)
        if folder is not None:
            page.screenshot(path=folder / f"{len(reached)}-{name.replace(' ', '-')}.png")

    page.goto(address)
    page.get_by_role("heading", level=1).wait_for()
    step("first page")
    page.get_by_role("link", name="School places").click()
    expect(page.locator("#said")).to_contain_text("A cell has 40 households")
    step("problem in words")
    page.get_by_role("button", name="Find the best mechanism").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("The best mechanism")
    step("optimum")
    loss, bound = (float(page.locator(".numbers .big").nth(k).inner_text()) for k in (0, 1))
    assert bound <= loss <= 1.0001 * bound and abs(loss - OPTIMUM) < 1e-3, (loss, bound)
    page.get_by_role("link", name="Report").click()
    expect(page.get_by_role("heading", name="The proof")).to_be_visible()
    step("report")
    return reached


def main() -> int:
    """Print the seconds."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    program = next(found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name)))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as fresh, served(Path(fresh), workers=2, waiting=8) as port, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=flags)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.tracing.start(screenshots=folder is not None, snapshots=folder is not None)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        reached = walk(page, f"http://127.0.0.1:{port}/", folder)
        if folder is not None:
            context.tracing.stop(path=folder / "newcomer.zip")
        browser.close()
    print(json.dumps(reached))
    return 0


if __name__ == "__main__":
    sys.exit(main())
