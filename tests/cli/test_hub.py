"""`freeproj export --hub`, and the maps and drawings of `evaluate` and `watch`."""

import json

import numpy as np
import pytest
from PIL import Image

from freeproj.cli import main
from freeproj.experiments.agents import load_agent

TINY = ("smoke", "--set", "n_updates=2", "--set", "n_trials=1")
TINY += ("--set", "evaluation.n_envs=4")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs")
    main(["train", *TINY, "--out", str(out), "--quiet"])
    return next(path for path in out.iterdir() if path.is_dir())


def test_a_folder_for_the_hub_is_usable_wherever_a_run_is(freeproj, run, tmp_path):
    folder = tmp_path / "mine"
    done = freeproj("export", run, "--hub", folder)
    assert done.code == 0
    assert done.out.splitlines()[-1] == str(folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "README.md",
        "config.toml",
        "model.safetensors",
        "replay.gif",
        "results.json",
    }
    text = (folder / "README.md").read_text()
    assert "![an episode](replay.gif)" in text
    results = json.loads((folder / "results.json").read_text())
    assert set(results["returns"]) == {"tile", "minus_tile", "random", "zero"}
    shown = freeproj("evaluate", folder, "--map", "tile").out
    assert (
        shown.splitlines()[3]
        == freeproj("evaluate", run, "--map", "tile").out.split("\n")[3]
    )
    played = []
    for source in (run, folder):
        agent = load_agent(source)
        agent.reset("random", seed=1)
        played.append([agent.act(np.full(2, 0.1 * step)) for step in range(9)])
    assert played[0] == played[1]


def test_export_needs_a_place(freeproj, run):
    ended = freeproj("export", run)
    assert ended.code == 2
    assert "Name a FILE ending in .npz, or a folder by `--hub`." in ended.err


@pytest.mark.parametrize("option", ["--map", "--maps"])
def test_maps_are_named_by_either_option(freeproj, run, option):
    shown = freeproj("evaluate", run, option, "pad", "random", "--json")
    assert set(json.loads(shown.out)["maps"]) == {"pad", "random"}
    watched = freeproj("watch", run, option, "pad", "--delay", 0)
    assert watched.code == 0


def test_evaluate_says_what_the_run_found_itself(freeproj, run):
    assert "The run's own last test: tile" in freeproj("evaluate", run).out
    assert "own last test" not in freeproj("evaluate", "repeat-first").out


def test_a_pole_is_a_pole(freeproj, run, tmp_path):
    path = tmp_path / "episode.gif"
    assert freeproj("watch", run, "--gif", path).code == 0
    with Image.open(path) as film:
        frame = np.asarray(film.convert("RGB")).astype(int)
    red = (frame[..., 0] > 150) & (frame[..., 1] < 110) & (frame[..., 2] < 110)
    rows, columns = np.nonzero(red[58:298])
    assert len(rows) > 300  # the pole: 110 x 7 pixels
    assert np.ptp(rows) > 80
    assert np.ptp(columns) < np.ptp(rows)
