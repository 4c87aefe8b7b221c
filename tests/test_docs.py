"""The documentation is complete: commands, names, settings, pictures, pages, links."""

import dataclasses
import importlib
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import freeproj
from freeproj import cli
from freeproj.experiments.settings import config_from
from freeproj.learning.config import TrainConfig
from freeproj.report.figures import FIGURES

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


def test_every_setting_is_in_the_training_guide():
    page, config = PAGES["training.md"], TrainConfig()
    for outer in dataclasses.fields(config):
        default = getattr(config, outer.name)
        if not dataclasses.is_dataclass(default):
            assert f"`{outer.name}`" in page
            continue
        for inner in dataclasses.fields(default):
            assert re.search(rf"`({outer.name})?\.{inner.name}`", page), inner.name


def test_the_training_guides_settings_are_accepted():
    (text,) = re.findall(r"```toml\n(.*?)```", PAGES["training.md"], re.DOTALL)
    assert config_from(tomllib.loads(text)).protocol == "task"


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


def test_links_of_the_readme_lead_somewhere():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)|src=\"([^\"]+)\"", readme)
    local = [a or b for a, b in targets if not (a or b).startswith("http")]
    assert any(target.startswith("docs/pictures/") for target in local)
    for target in local:
        assert (ROOT / target).exists(), target


def test_pictures_are_small():
    pictures = [path for path in (DOCS / "pictures").iterdir() if path.suffix != ".py"]
    assert len(pictures) >= 2
    assert all(path.stat().st_size <= 150_000 for path in pictures)
