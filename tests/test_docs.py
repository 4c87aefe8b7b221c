"""The documentation is complete: commands, names, settings, pictures, pages, links."""

import dataclasses
import importlib
import re
import tomllib
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

import freeproj
import write_reference
from freeproj import cli
from freeproj.experiments.settings import config_from, read_base
from freeproj.findings.claims import ask_published
from freeproj.findings.numbers import PAPER_RESULTS
from freeproj.learning.config import TrainConfig
from freeproj.projection.maps import MAPS, fixed_map
from freeproj.published import load, names
from freeproj.report.figures import FIGURES
from freeproj.stats import Outcome

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {
    str(path.relative_to(DOCS)): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
}
API = "\n".join(text for name, text in PAGES.items() if name.startswith("api/"))
SHOWN = set(re.findall(r"^::: (\S+)$", API, re.MULTILINE))  # by mkdocstrings

# Modules that users have no business with.
INNER = {"__main__", "cli"}


def nav_pages(entry):
    """Yields the pages of a part of mkdocs.yml's nav."""
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from nav_pages(part)


@pytest.mark.parametrize("command", cli._COMMANDS)
def test_every_command_is_in_the_docs(command):
    assert any(re.search(rf"freeproj {command}\b", text) for text in PAGES.values())


@pytest.mark.parametrize("name", freeproj.__all__)
def test_every_public_name_is_on_the_api_pages(name):
    assert f"`fp.{name}`" in PAGES["api/index.md"]
    home = f"freeproj.{(freeproj._HOMES | freeproj._MODULES).get(name, name)}"
    if name != "__version__":
        assert any(module == home or module.startswith(f"{home}.") for module in SHOWN)


def test_every_module_is_on_the_api_pages():
    source = Path(freeproj.__file__).parent
    modules = {path.stem for path in source.iterdir() if path.suffix == ".py"}
    modules |= {path.parent.name for path in source.glob("*/__init__.py")}
    shown = {module.split(".")[1] for module in SHOWN}
    assert modules - {"__init__"} - INNER <= shown
    for folder in ("projection", "meta", "learning"):  # one by one
        files = source.glob(f"{folder}/[a-z]*.py")
        assert {f"freeproj.{folder}.{path.stem}" for path in files} <= SHOWN


@pytest.mark.parametrize("package", ["agents", "envs", "lsmdp", "spectra", "stats"])
def test_every_name_of_a_package_is_on_the_api_pages(package):
    homes = (
        f"freeproj.{package}",
        "freeproj.projection.spaces",
        "freeproj.experiments.measures",
    )
    modules = [name for name in SHOWN if name.startswith(homes)]
    shown = {each for name in modules for each in importlib.import_module(name).__all__}
    shown |= {name.split(".")[-1] for name in modules}
    assert set(importlib.import_module(f"freeproj.{package}").__all__) <= shown


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda path: path.stem)
def test_generated_parts_are_up_to_date(page):
    text = page.read_text(encoding="utf-8")
    advice = "run python tools/write_reference.py"
    assert write_reference.filled(text) == text, advice


def test_every_generated_part_is_on_a_page():
    together = "\n".join(PAGES.values())
    for name in write_reference.BLOCKS:
        assert f"<!-- {name} -->" in together
        assert f"<!-- end {name} -->" in together


def test_every_setting_is_on_the_settings_page():
    page, config = PAGES["settings.md"], TrainConfig()
    for outer in dataclasses.fields(config):
        default = getattr(config, outer.name)
        if not dataclasses.is_dataclass(default):
            assert f"`{outer.name}`" in page
            continue
        for inner in dataclasses.fields(default):
            assert f"`{outer.name}.{inner.name}`" in page


def test_meanings_and_questions_are_of_things_that_exist():
    said = write_reference.SAID
    keys = [
        key
        for section in ("", "projection", "ppo", "network", "evaluation")
        for key, _ in write_reference._fields(
            getattr(TrainConfig(), section) if section else TrainConfig(), section
        )
    ]
    assert set(said["settings"]) <= set(keys)
    shipped = Path(freeproj.__file__).parent
    assert set(said["presets"]) == {p.stem for p in shipped.glob("configs/*.toml")}


def test_the_training_guides_settings_are_accepted():
    text, *_ = re.findall(r"```toml\n(.*?)```", PAGES["training.md"], re.DOTALL)
    assert config_from(tomllib.loads(text)).evaluation.task


@pytest.mark.parametrize("name", FIGURES)
def test_every_picture_is_in_the_docs(name):
    assert f"`{name}`" in PAGES["commands.md"]


def test_nav_and_pages_agree():
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert set(nav_pages(settings["nav"])) == set(PAGES)


def test_the_site_fetches_nothing():
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert settings["theme"]["font"] is False
    assert "extra_javascript" not in settings
    for sheet in settings["extra_css"]:
        assert "http" not in sheet + (DOCS / sheet).read_text(encoding="utf-8")


def anchors_of(text):
    """Return the anchors of a page's headings, as mkdocs makes them."""
    heads = re.findall(
        r"^#{1,4} (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE
    )
    plain = (
        unicodedata.normalize("NFKD", head).encode("ascii", "ignore").decode()
        for head in heads
    )
    kept = (re.sub(r"[^\w\s-]", "", head).strip().lower() for head in plain)
    return {re.sub(r"[-\s]+", "-", head) for head in kept}


@pytest.mark.parametrize(
    "page",
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "tools/README.md",
        *sorted(DOCS.glob("*.md")),
    ],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(
        r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    ):
        if target.startswith("http"):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors_of(file.read_text(encoding="utf-8")), target


def test_the_readmes_picture_is_no_larger_than_a_screen():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (target,) = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme)
    with Image.open(ROOT / target) as picture:
        assert picture.height / picture.width < 0.75


def test_pictures_are_small():
    pictures = [path for path in (DOCS / "pictures").iterdir() if path.suffix != ".py"]
    assert len(pictures) >= 2
    assert all(path.stat().st_size <= 150_000 for path in pictures)


# What a text once said and the data, the code or another text did not.


TEXTS = {"README.md": (ROOT / "README.md").read_text(encoding="utf-8")} | PAGES
BANNED = (
    "by heart|never looks|the slip|true Haar|raw QR|carry over|carries over|luckiest|"
    "need no eyes|needs no eyes|dealt anew|kept for ever|best blind|random map"
)


@pytest.mark.parametrize("name", TEXTS)
def test_private_words_are_not_used(name):
    if name == "changelog.md":
        return  # what past versions said
    text = re.sub(r"```.*?```", "", TEXTS[name], flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "", text)
    assert not re.findall(BANNED, text, re.IGNORECASE)


@pytest.mark.parametrize("name", [*TEXTS, "CHANGELOG.md"])
def test_a_page_is_rendered_as_it_is_meant(name):
    """The site's Markdown needs an empty line before a list, and eats some signs."""
    text = TEXTS.get(name) or (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    prose = r"^(?!- |  |\d+\. |\s*$|<!--|#).+\n(?:- |1\. )"
    assert not re.findall(prose, text, re.MULTILINE)
    assert not re.findall(r"\$[^$\n]*\\[{}][^$\n]*\$", text)  # write \\lbrace
    assert not re.findall(r"`--[^`\n]*\\\|[^`\n]*`", text)


def test_sentences_that_rest_on_a_verdict_still_may():
    """`<!-- rests on: NAME holds -->` beside a sentence names what it needs."""
    found = [
        (name, wanted)
        for text in TEXTS.values()
        for name, wanted in re.findall(r"<!-- rests on: (\S+) (.*?) -->", text)
    ]
    answers = ask_published()
    assert len(found) >= 2
    for name, wanted in found:
        outcome = answers[name].outcome
        if wanted == "is not beaten":  # no verdict that longer words are better
            assert outcome in (Outcome.OPEN, Outcome.HOLDS), name
        else:
            assert str(outcome) == wanted, name


def test_dates_agree_and_no_study_is_younger_than_its_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.search(r"^## (\S+) — (\S+)$", changes, re.MULTILINE).groups()
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {version}" in cited
    assert f"date-released: {date}" in cited
    assert all(load(name).meta["date"] <= date for name in names())


def test_minus_tile_is_said_to_differ_in_scale_too():
    norms = {
        name: np.linalg.norm(fixed_map(name, 16, 2, 2**0.5), 2)
        for name in ("tile_unit", "minus_tile", "minus_tile_unit")
    }
    assert norms["minus_tile"] / norms["tile_unit"] == pytest.approx(2**0.5)
    assert norms["minus_tile_unit"] == pytest.approx(norms["tile_unit"])
    assert "scale and sign\ndiffer" in PAGES["results.md"]
    assert "minus_tile_unit" in MAPS


def test_the_papers_numbers_in_the_text_are_the_stored_ones():
    def stored(task):
        return f"{PAPER_RESULTS[task, 'RP', 'gru'].raw / 16:.2f}"

    text = PAGES["results.md"]
    assert f"Repeat Previous ({stored('RepeatPrevious')} per trial" in text
    assert f"Higher Lower ({stored('HigherLower')};" in text


def test_the_diagonal_of_uncorrected_qr_is_as_the_texts_say():
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.standard_normal((200, 128, 128))).Q
    diagonal = np.diagonal(q, axis1=1, axis2=2)
    assert diagonal.mean() == pytest.approx(-0.050, abs=0.002)
    assert diagonal[:, :13].mean() == pytest.approx(-0.070, abs=0.005)
    assert "-0.050 over all entries" in PAGES["results.md"]
    assert "-0.07" in PAGES["differences.md"]


def test_the_popgym_study_is_described_as_it_is():
    from freeproj.experiments.study import read_study

    runs = read_study("held-out-task-popgym").runs()
    assert {len(run.tasks) for run in runs} == {13}
    assert len({run.evaluation.task for run in runs}) == 3
    for text in (PAGES["studies.md"], PAGES["results.md"]):
        assert re.search(r"thirteen.{0,80}three", text.replace("\n", " "))


def test_the_demo_is_described_with_its_own_sizes():
    demo = read_base("demo")
    dim, length = demo["projection"]["dim"], demo["projection"]["length"]
    n = demo["projection"]["n_words"] ** (1 / length)
    assert (dim, length, n, demo["n_trials"]) == (4, 2, 16, 6)
    page = PAGES["start.md"]
    assert "4 × 4" in page
    assert "two letters over 16 base matrices" in page
    assert "six trials" in page


def test_the_test_command_stands_between_its_markers():
    readme = TEXTS["README.md"]
    block = re.search(r"<!-- test command -->\n```\n(.*)\n```\n<!-- end -->", readme)
    assert "pip install" in block[1]
    assert block[1].endswith("pytest")
    assert readme.index("## Develop") < readme.index("<!-- test command -->")
