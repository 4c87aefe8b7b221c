"""The page in a real browser: headless Chromium opens it from disk.

The browser is the system's (Debian: `apt-get install chromium`); nothing is downloaded.
Without it the tests are skipped, or fail where FREEPROJ_REQUIRE_BROWSER is set, as in
CI. FREEPROJ_SHOTS names a folder to keep the screenshots in.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fake_dataset import fake_dataset, why_table_1
from freeproj.report.figures import make_figure
from freeproj.report.page.building import make_report
from freeproj.spectra import limit_effective_dimension

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SIZES = {"light": (1200, 900), "dark": (1200, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def chromium():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = "Chromium is not installed (Debian: apt-get install chromium)."
        if os.environ.get("FREEPROJ_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A page with everything on it, from few numbers, and one without runs."""
    folder = tmp_path_factory.mktemp("page")
    small = {"dim": 16, "n_samples": 16, "n_trials": 8}
    quick = {
        "effective-dimension": {**small, "n_ridges": 3},
        "kernel-spectra": small,
    }
    for name, options in quick.items():
        make_figure(name, folder / f"{name}.png", options=options)
    make_figure("cayley", folder / "cayley.png", options={"depth": 2})
    alone = make_report(folder, only=["lsmdp-spaces"], published=[]).page
    alone = alone.rename(folder / "alone.html")
    tasks = ("StatelessCartPole", "HigherLower")
    own = fake_dataset({"task": tasks, "projection.length": (1, 4)}, 3, _level)
    file = own.save(folder / "own.npz")
    study = dataclasses.replace(why_table_1(3), meta={"study": "why-table-1"})
    only = ["lsmdp-spaces", "why-table-1", "length-curves"]
    whole = make_report(folder, file, only=only, published=[study]).page
    return {"whole": whole, "alone": alone}


def _level(settings, name):
    return 0.2 if settings["task"] == "StatelessCartPole" else 0.0


def open_page(chromium, file, size="light"):
    """Opens a page; whatever it complains of or asks for is kept beside it."""
    width, height = SIZES[size]
    page = chromium.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if size == "dark" else "light",
        reduced_motion="reduce",
    )
    page.complaints = []
    page.on("console", lambda m: page.complaints.append((m.type, m.text)))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: _note_request(page, request.url))
    page.goto(file.as_uri())
    page.wait_for_function("document.readyState === 'complete'")
    return page


def _note_request(page, url):
    if not url.startswith(("file:", "data:", "blob:")):
        page.complaints.append(("request", url))


@pytest.fixture(scope="module")
def page(chromium, files):
    """The whole page, light and unfolded, that the tests of its controls share."""
    opened = open_page(chromium, files["whole"])
    opened.evaluate("for (const e of document.querySelectorAll('details')) e.open = 1")
    yield opened
    opened.close()


def marks_of(page, place):
    """Everything drawn in a chart, as text."""
    return page.evaluate(
        f"[...document.querySelectorAll(`{place} svg`)].map(s => s.innerHTML).join()"
    )


@pytest.mark.parametrize(
    ("name", "size"), [("whole", "dark"), ("whole", "phone"), ("alone", "light")]
)
def test_it_opens_without_complaint_request_or_sideways_scrolling(
    chromium, files, tmp_path, name, size
):
    page = open_page(chromium, files[name], size)
    theme = page.evaluate("document.documentElement.dataset.theme")
    assert theme == ("dark" if size == "dark" else "light")
    kept = Path(os.environ.get("FREEPROJ_SHOTS", tmp_path)) / f"{name}-{size}.png"
    page.screenshot(path=kept, full_page=True)
    assert page.complaints == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= SIZES[size][0]
    page.close()
    with Image.open(kept) as shot:
        brightness = np.asarray(shot.convert("L")).mean()
    assert brightness < 80 if size == "dark" else brightness > 180


def test_the_shared_page_is_light_and_silent(page, tmp_path):
    kept = Path(os.environ.get("FREEPROJ_SHOTS", tmp_path)) / "whole-light.png"
    page.screenshot(path=kept)
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.complaints == []


def test_sliders_move_the_plot_by_keyboard(page):
    place = "[data-widget=effective-dimension]"
    for slider in (0, 1):
        before, text = marks_of(page, place), page.inner_text(f"{place} .readout")
        page.locator(f"{place} input[type=range]").nth(slider).focus()
        page.keyboard.press("ArrowRight")
        assert marks_of(page, place) != before
        assert page.inner_text(f"{place} .readout") != text
    assert page.locator(f"{place} output").nth(1).inner_text() == "512"
    assert page.complaints == []


def test_the_limit_solved_on_the_page_is_that_of_the_package(page):
    for ridge, n, length in ((1e-4, 256, 1), (1e-2, 4, 4), (1.0, 2, 8), (0.3, 1.5, 16)):
        there = page.evaluate(f"report.limit({ridge}, {n}, {length})")
        here = limit_effective_dimension(ridge, n, length)
        assert there == pytest.approx(here, rel=1e-9)


def test_the_button_turns_page_and_plots_dark_and_back(page):

    def look():
        return page.evaluate(
            "[document.documentElement.dataset.theme,"
            " getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('.plot .title')).fill]"
        )

    light = look()
    page.focus("#theme")
    page.keyboard.press("Enter")
    dark = look()
    assert (light[0], dark[0]) == ("light", "dark")
    assert all(one != other for one, other in zip(light, dark, strict=True))
    page.click("#theme")
    assert look() == light


def test_spectra_follow_the_chosen_length(page):
    place = "[data-widget=kernel-spectra]"
    before = marks_of(page, place)
    page.check("input[name=spectra-length][value='1']")
    assert marks_of(page, place) != before
    page.check("input[name=spectra-length][value=all]")
    assert page.locator(f"{place} polyline").count() == 4


def test_the_disk_tells_words_and_what_they_share(page):
    page.focus(".disk-view")
    for key in ("ArrowDown", "ArrowLeft"):  # from ab back to the centre
        page.keyboard.press(key)
    assert "the empty word" in page.inner_text(".disk .readout")
    for key in ("ArrowRight", "ArrowUp", "Enter", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    text = page.inner_text(".disk .readout")
    assert "ab⁻¹" in text
    assert "shares its first letter; they are 2 steps apart" in text
    box = page.locator(".disk-view").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    assert "the empty word" in page.inner_text(".disk .readout")


def test_paper_is_light_and_everything_on_it_is_unfolded(page):
    page.click("#theme")
    folded = page.locator("details:not([open])").count()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("details:not([open])").count() == folded
    page.click("#theme")
