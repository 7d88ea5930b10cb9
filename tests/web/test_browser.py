"""The workbench in a real browser: a newcomer's way by mouse, by keyboard, narrow and wide, dark and light, for everybody.

Every window may reach the workbench alone and must not complain. With DISCREET_PICTURES=FOLDER the pages are kept as pictures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import NARROW, WIDE, Window, kept, started, window
from learners import make
from playwright.sync_api import Browser, expect
from serving import POINTS, SMALL, Visitor, running
from towns import make_town

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow]
PICTURES = Path(os.environ["DISCREET_PICTURES"]) if os.environ.get("DISCREET_PICTURES") else None


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A workbench that serves a folder with a release, a ledger, and a county in which a prior was learned."""
    town = make_town(tmp_path_factory.mktemp("served") / "town")
    town.publish()
    make(town.folder / "county").learn(until="learn", strata=("town",))
    with running(town.folder) as found:
        yield found


@pytest.fixture(scope="module")
def school(browser: Browser, bench: Visitor) -> str:
    """A newcomer's way, by mouse alone: choose school places, find the best mechanism, open its report. The design's address."""
    with window(browser, bench.address) as seen:
        page = seen.page
        page.goto(bench.address)
        kept(page, "home", PICTURES)
        page.get_by_role("link", name="School places").click()
        expect(page.locator("#said")).to_contain_text("A cell has 40 households")
        kept(page, "problem", PICTURES)
        page.get_by_role("button", name="Find the best mechanism").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("The best mechanism")
        expect(page.locator(".drawn svg").first).to_be_visible()
        address = page.url
        loss = float(page.locator(".numbers .big").first.inner_text())
        bound = float(page.locator(".numbers .big").nth(1).inner_text())
        assert bound <= loss <= bound * 1.001
        kept(page, "design", PICTURES)
        page.get_by_role("link", name="Report").click()
        expect(page.get_by_role("heading", name="The proof")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_contain_text("The best mechanism")
        quiet(seen)
    return address


def quiet(seen: Window) -> None:
    """Nothing was complained about and nobody else was asked."""
    assert seen.complaints == [] and seen.strangers == []


def no_violation(seen: Window, where: str) -> None:
    """No serious or critical violation of accessibility, and nothing wider than the screen."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(seen.page).response["violations"]
    serious = [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == [], where
    assert seen.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), f"{where} is wider than the screen"


def test_reading_and_guarantees_follow_a_choice(browser: Browser, bench: Visitor, school: str) -> None:
    with window(browser, bench.address) as seen:
        page = seen.page
        page.goto(school)
        page.get_by_role("link", name="Reading").click()
        before = page.locator("section[aria-label='In words'] p").first.inner_text()
        page.select_option("#output", index=0)
        expect(page.locator("section[aria-label='In words'] p").first).not_to_have_text(before)
        expect(page.locator(".drawn svg").first).to_be_visible()
        kept(page, "reading", PICTURES)
        page.go_back()
        expect(page.locator("section[aria-label='In words'] p").first).to_have_text(before)
        page.get_by_role("link", name="Guarantees").click()
        page.select_option("#sure", "0.1")
        expect(page.locator("main")).to_contain_text("10 % sure today")
        expect(page.locator(".drawn svg")).to_have_count(2)
        kept(page, "guarantees", PICTURES)
        quiet(seen)


def test_the_slider_answers_from_solved_points_and_they_become_more(browser: Browser, bench: Visitor) -> None:
    problem = bench.keep(SMALL)
    with window(browser, bench.address) as seen:
        page = seen.page
        page.goto(f"{bench.address}/frontier/{problem}")
        expect(page.locator("#level")).to_be_visible()  # the first point came by itself
        expect(page.locator("#curve")).to_contain_text("points are solved.")  # and so did the rest
        expect(page.locator("#curve table").first.locator("tbody tr")).to_have_count(POINTS)
        expect(page.locator("#curve")).to_contain_text("Both promises beside each other")
        slider = page.locator("#level")
        slider.focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#move")).to_contain_text("loss at most")
        page.fill("#loss", "1")
        expect(page.locator("#move")).to_contain_text("is enough")
        page.reload()  # where one stood is in the address
        expect(page.locator("#loss")).to_have_value("1")
        expect(page.locator("#move")).to_contain_text("is enough")
        expect(page.locator(".drawn svg").first).to_be_visible()
        kept(page, "frontier", PICTURES)
        no_violation(seen, "frontier")
        quiet(seen)


def test_work_is_watched_survives_a_reload_and_is_stopped(browser: Browser, bench: Visitor) -> None:
    large = SMALL.replace("respondents = 4", "respondents = 70").replace("values = [0, 1]", "values = [0, 1, 2]")
    large = large.replace("[0.7, 0.3]", "[0.6, 0.3, 0.1]")
    begun = bench.post("/problem", {"toml": large, "written": "toml", "then": "design", "gap": "1e-9", "seconds": "120"})
    with window(browser, bench.address) as seen:
        page = seen.page
        page.goto(f"{bench.address}/design/{begun.json['design']}")
        stop = page.get_by_role("button", name="Stop and keep")
        if stop.count():  # unless a fast machine has finished it
            page.reload()
        stop.evaluate_all("buttons => buttons.forEach(button => button.click())")  # looked for and pressed at one moment
        expect(page.get_by_role("heading", level=1)).to_contain_text("The best mechanism")
        quiet(seen)


def test_the_keyboard_is_enough(browser: Browser, bench: Visitor) -> None:
    with window(browser, bench.address) as seen:
        page = seen.page
        page.goto(bench.address)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "To the content"
        for _ in range(30):
            page.keyboard.press("Tab")
            if "Disease count" in page.evaluate("document.activeElement.textContent"):
                break
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Disease count")
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
        assert {"respondents", "epsilon", "Find the best mechanism", "What accuracy costs", "Keep"} <= reached
        page.locator("#respondents").focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("0")
        expect(page.locator("#said")).to_contain_text("Not yet a problem")
        page.keyboard.press("Control+A")
        page.keyboard.type("5")
        expect(page.locator("#said")).to_contain_text("A cell has 5 patients")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("The best mechanism")
        quiet(seen)


def test_a_prior_comes_from_a_learning_release_and_cells_from_a_key_set(browser: Browser, bench: Visitor, tmp_path: Path) -> None:
    keys, counts = tmp_path / "streets.csv", tmp_path / "counts.csv"
    keys.write_text("street,size\na,3\nb,4\n", encoding="utf-8")
    counts.write_text("answer,people\n0,640\n1,160\n", encoding="utf-8")
    with window(browser, bench.address) as seen:
        page = seen.page
        page.goto(f"{bench.address}/problem?example=buses")
        page.set_input_files("#table", counts)
        expect(page.locator("#said")).to_contain_text("reference")
        expect(page.locator("#said")).to_contain_text("A cell has 50 passengers")
        page.select_option("#prior", "release")
        expect(page.locator("#learned")).to_contain_text("probability of each type")
        expect(page.locator("#said")).to_contain_text("release")
        page.select_option("#of_stratum", label="town 1")
        expect(page.locator("#said pre")).to_contain_text('stratum = ["town 1"]')
        page.locator("summary", has_text="As a problem file").click()
        kept(page, "learned", PICTURES)
        no_violation(seen, "learned prior")
        page.locator("summary", has_text="More about the search").click()
        page.set_input_files("#keys", keys)
        expect(page.locator("#sizes")).to_have_value("street,size\na,3\nb,4\n")
        page.get_by_role("button", name="Find the best mechanism").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Mechanisms for cells of")
        kept(page, "family", PICTURES)
        quiet(seen)


def test_cells_are_chosen_while_one_searches_and_added_up(browser: Browser, bench: Visitor) -> None:
    """Near-miss: a search brought a new table, and what had been chosen before was forgotten."""
    release = next(item["name"] for item in bench.get("/releases.json").json["releases"] if item["place"] == "release")
    with window(browser, bench.address) as seen:
        page = seen.page
        page.goto(f"{bench.address}/releases/{release}")
        page.get_by_label("Choose s0").check()
        page.fill("#search", "s2")
        expect(page.get_by_label("Choose s1")).to_have_count(0)
        page.get_by_label("Choose s2").check()
        expect(page.locator("#count")).to_have_text("2 chosen;")
        page.get_by_role("button", name="Add up the chosen cells").click()
        expect(page.locator("main")).to_contain_text("The total over 2 cells (s0, s2)")
        page.go_back()
        page.get_by_role("link", name="s2").click()
        expect(page.locator("main")).to_contain_text("About")
        quiet(seen)


LOOKS = [(WIDE, "dark"), (NARROW, "light"), *([(WIDE, "light"), (NARROW, "dark")] if PICTURES else [])]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_every_page_is_for_everybody(browser: Browser, bench: Visitor, school: str, width: int, scheme: str) -> None:
    listed = bench.get("/releases.json").json
    release = next(item["name"] for item in listed["releases"] if item["place"] == "release")
    ledger = next(item["name"] for item in listed["ledgers"] if item["place"] == "ledger.db")
    problem, name, small = bench.keep(SMALL), school.rpartition("/")[2], bench.designed(SMALL)
    pages = {
        "home": "/", "problem": "/problem?example=buses", "design": f"/design/{name}", "reading": f"/design/{name}/reading",
        "guarantees": f"/design/{name}/guarantees", "regret": f"/design/{small}/regret",
        "frontier": f"/frontier/{problem}", "releases": "/releases",
        "release": f"/releases/{release}", "cell": f"/releases/{release}/cell?place=1",
        "total": f"/releases/{release}/total?cell=0&cell=1", "ledger": f"/ledgers/{ledger}", "gallery": "/gallery",
        "designs": "/designs", "jobs": "/jobs", "missing": "/nowhere",
    }  # fmt: skip
    with window(browser, bench.address, width, scheme) as seen:
        for where, path in pages.items():
            seen.page.goto(bench.address + path)
            for place in seen.page.locator("[data-figure]").all():
                expect(place.locator("svg")).to_be_visible()
            no_violation(seen, where)
            kept(seen.page, f"{where}-{width}-{scheme}", PICTURES)
        seen.complaints = [words for words in seen.complaints if "404" not in words]
        quiet(seen)
