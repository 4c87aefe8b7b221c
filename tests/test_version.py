"""One version, wherever it is written."""

import re
import tomllib
from pathlib import Path

import yaml

import freeproj

ROOT = Path(__file__).parents[1]


def test_the_version_agrees_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    page = (ROOT / "docs" / "citing.md").read_text()
    (cited,) = re.findall(r"version = \{(.*?)\}", page)
    found = {project["version"], str(citation["version"]), cited}
    assert found == {freeproj.__version__}


def test_the_changelog_begins_with_this_version_or_the_next():
    heads = re.findall(r"^## \[?([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heads
    parts = [tuple(map(int, head.split("."))) for head in heads]
    assert parts == sorted(parts, reverse=True)
    assert parts[0] >= tuple(map(int, re.findall(r"\d+", freeproj.__version__)))


def test_the_citation_prefers_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    paper = citation["preferred-citation"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert paper["url"] == project["urls"]["Paper"]
    assert paper["authors"][0]["family-names"] == "Hayase"
