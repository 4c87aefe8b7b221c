"""`freeproj train`, `evaluate` and `watch`, as people call them."""

import json
import re
import shutil

import pytest

from freeproj.cli import main

TINY = ("smoke", "--set", "task=RepeatFirst", "--set", "n_updates=2")
TINY += ("--set", "n_trials=1", "--set", "evaluation.n_envs=4")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a finished run, with TensorBoard files beside the log."""
    out = tmp_path_factory.mktemp("runs")
    main(["train", *TINY, "--out", str(out), "--quiet", "--tensorboard"])
    (folder,) = out.iterdir()
    return folder


def test_training_ends_with_a_run_folder(trained):
    assert trained.name.startswith("RepeatFirst-gru-n4-l4-s0-")
    final = json.loads((trained / "final.json").read_text())
    assert final["update"] == 2
    assert (trained / "agent.npz").is_file()


def test_tensorboard_gets_the_names_of_the_log(trained):
    pytest.importorskip("tensorboardX")
    files = [path for path in (trained / "tensorboard").rglob("*") if path.is_file()]
    assert any(b"train/n_finished" in path.read_bytes() for path in files)


def test_a_finished_run_is_found_and_not_changed(trained, freeproj):
    before = (trained / "log.jsonl").read_bytes()
    done = freeproj("train", *TINY, "--out", trained.parent)
    assert done.code == 0
    assert done.out.strip() == str(trained)
    assert (trained / "log.jsonl").read_bytes() == before


def test_an_interrupted_run_goes_on_and_prints_what_is_left(
    trained, tmp_path, freeproj
):
    copy = shutil.copytree(trained, tmp_path / trained.name)
    (copy / "final.json").unlink()
    done = freeproj("train", *TINY, "--out", tmp_path)
    assert done.code == 0
    assert "/2]" not in done.err  # both updates were safe: none is made again
    assert (copy / "final.json").read_bytes() == (trained / "final.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nowhere.toml",), "nowhere.toml: no such file"),
        (("laptp",), "Did you mean `laptop`?"),
        (("smoke", "--set", "ppo.n_epoch=3"), "No setting `ppo.n_epoch`"),
        (("smoke", "--set", "task=Chess"), "Chess"),
        (("smoke", "--set", "n_envs"), "n_envs"),
        (("smoke", "--set", "n_envs=7"), "multiple of `ppo.n_minibatches`"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_folder(
    arguments, complaint, freeproj, tmp_path
):
    done = freeproj("train", *arguments, "--out", tmp_path / "runs")
    assert done.code == 2
    assert complaint in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_evaluation_prints_every_map_its_norm_and_what_to_compare_with(
    trained, freeproj
):
    asked = ("evaluate", trained, "--maps", "tile_unit", "random", "zero", "--seed", 3)
    done = freeproj(*asked)
    assert done.code == 0
    head = "RepeatFirst: 4 environments per projection, episodes of 1 trial"
    assert head in done.out
    assert re.search(r"^tile_unit +1\.00 +-?\d\.\d+ +\d\.\d+ +4 ", done.out, re.M)
    assert re.search(r"^random +1\.41 ", done.out, re.M)
    assert re.search(r"^zero +0\.00 ", done.out, re.M)
    assert "Training projections have norm 1.41" in done.out
    assert "RepeatFirst: chance -0.50, best open-loop -0.50, best 1.00." in done.out
    assert freeproj(*asked).out == done.out
    said = json.loads(freeproj(*asked, "--json").out)
    assert list(said["maps"]) == ["tile_unit", "random", "zero"]
    for numbers in said["maps"].values():
        assert numbers["count"] == 4
        assert numbers["standard_error"] >= 0


def test_a_norm_is_that_of_the_projection_without_the_scaling(freeproj, tmp_path):
    scaled = ("smoke", "--set", "normalize_observations=true", "--set", "n_updates=1")
    small = ("--set", "n_trials=1", "--set", "evaluation.n_envs=2", "--quiet")
    run = freeproj("train", *scaled, *small, "--out", tmp_path).out.strip()
    said = json.loads(freeproj("evaluate", run, "--map", "tile", "--json").out)
    assert said["maps"]["tile"]["norm"] == pytest.approx(said["training_norm"])


def test_evaluation_can_relabel_the_actions(trained, freeproj):
    asked = ("evaluate", trained, "--maps", "zero", "--json")
    plain, relabelled = (
        json.loads(freeproj(*asked, "--action-map", name).out)
        for name in ("identity", "random")
    )
    assert (plain["action_map"], relabelled["action_map"]) == ("identity", "random")
    assert plain["maps"]["zero"]["mean"] != relabelled["maps"]["zero"]["mean"]
    assert json.loads(freeproj(*asked).out) == plain
    done = freeproj(*asked, "--action-map", "rando")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "Did you mean `random`?" in done.err


def test_watching_shows_the_whole_episode(trained, freeproj):
    done = freeproj("watch", trained, "--delay", 0)
    assert done.code == 0
    assert done.out.count("trial 1/1") == 51
    assert "--- trial 1 ended" in done.out


def test_a_gif_is_told_by_its_name(freeproj, tmp_path):
    done = freeproj("watch", "cartpole", "--gif", tmp_path / "a.txt")
    assert done.code == 2
    assert "ending in .gif" in done.err
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("command", ["evaluate", "watch"])
def test_what_is_not_a_run_is_refused(command, freeproj, tmp_path):
    done = freeproj(command, tmp_path)
    assert done.code == 2
    assert "is not a run" in done.err
