"""`freeproj runs` and `freeproj config`."""

import glob
import json
import tomllib
from pathlib import Path

import pytest

from fake_study import write_study
from freeproj.experiments.settings import config_from, read_config


@pytest.fixture
def folder(tmp_path):
    shape = {"tasks": ("HigherLower",), "memories": ("gru",), "lengths": (1, 4)}
    write_study(tmp_path / "runs", n_seeds=2, n_updates=8, unfinished=(1,), **shape)
    (tmp_path / "runs" / "other").mkdir()
    (tmp_path / "runs" / "other" / "config.toml").write_text("x = 1")
    return tmp_path / "runs"


def test_runs_lists_axes_health_and_how_to_resume(freeproj, folder):
    ended = freeproj("runs", folder)
    assert ended.code == 0
    head, *lines = ended.out.splitlines()
    assert head.split()[:5] == ["task", "ℓ", "seed", "health", "update"]
    assert [line.split()[:5] for line in lines[:4]] == [
        ["HigherLower", "1", "0", "finished", "8/8"],
        ["HigherLower", "1", "1", "running", "4/8"],
        ["HigherLower", "4", "0", "finished", "8/8"],
        ["HigherLower", "4", "1", "finished", "8/8"],
    ]
    for line in lines[:4]:  # what stands last finds the folder in a shell
        (found,) = glob.glob(line.split()[-1])
        assert f"-s{line.split()[2]}-" in found
    assert f"foreign: {folder}/other: No setting `x`" in ended.out
    assert "3 finished, 1 running, 1 foreign." in ended.out
    assert "freeproj train" in ended.out.splitlines()[-1]


def test_runs_as_json(freeproj, folder):
    found = json.loads(freeproj("runs", folder, "--json").out)
    assert found["axes"] == ["projection.length"]
    assert {run["task"] for run in found["runs"]} == {"HigherLower"}
    assert all(Path(run["folder"]).is_dir() for run in found["runs"])
    assert [run["update"] for run in found["runs"]].count(4) == 1
    assert [each["health"] for each in found["set_aside"]] == ["foreign"]
    assert found["counts"] == {"finished": 3, "running": 1, "foreign": 1}


def test_runs_of_an_empty_or_missing_folder(freeproj, tmp_path):
    assert freeproj("runs", tmp_path).out == f"{tmp_path}: no runs.\n"
    ended = freeproj("runs", tmp_path / "nosuch")
    assert ended.code == 2
    assert "no such folder" in ended.err


def test_config_show_and_init(freeproj, tmp_path):
    text = freeproj("config", "show", "smoke", "--set", "seed=7").out
    assert config_from(tomllib.loads(text)) == read_config("smoke", {"seed": 7})
    plain = json.loads(freeproj("config", "show", "--json").out)
    assert plain["ppo.discount"] == 0.99
    file = tmp_path / "own.toml"
    assert freeproj("config", "init", file, "--base", "smoke").code == 0
    assert read_config(file) == read_config("smoke")
    assert freeproj("config", "init", file).code == 2


def test_a_misspelt_key_is_answered_with_the_nearest(freeproj, tmp_path):
    ended = freeproj("train", "smoke", "--set", "ppo.discout=0.9", "--out", tmp_path)
    assert ended.code == 2
    assert "Did you mean `ppo.discount`?" in ended.err
