"""`freeproj export`, `compare` and `demo`, as people call them."""

import json

import pytest

from freeproj.cli import main

TINY = ("smoke", "--set", "task=RepeatFirst", "--set", "n_updates=2")
TINY += ("--set", "n_trials=2", "--set", "evaluation.n_envs=4")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two folders of finished runs: three seeds of one setting, two of another."""
    root = tmp_path_factory.mktemp("sides")
    for side, rate, seeds in (("slow", 1e-4, 3), ("fast", 1e-2, 2)):
        for seed in range(seeds):
            chosen = ("--set", f"ppo.learning_rate={rate}", "--set", f"seed={seed}")
            main(["train", *TINY, *chosen, "--out", str(root / side), "--quiet"])
    return root


def test_comparing_gives_means_intervals_and_differences(runs, freeproj):
    done = freeproj("compare", runs / "slow", runs / "fast")
    assert done.code == 0
    said = " ".join(done.out.split())
    assert "From slow to fast: no verdict" in said
    assert "The data cannot tell whether fast earns more than slow" in said
    assert "nan" not in done.out
    found = json.loads(freeproj("compare", runs / "slow", runs / "fast", "--json").out)
    assert [row["seeds"] for row in found["rows"]] == [3, 2]
    low, high = found["rows"][0]["interval"]
    assert low <= found["rows"][0]["mean"] <= high
    assert found["rows"][1]["interval"] is None
    (answer,) = found["answers"]
    assert answer["outcome"] == "cannot tell"
    assert answer["interval"] is None


def test_single_runs_can_be_compared(runs, freeproj):
    one, other = sorted(each for each in (runs / "slow").iterdir() if each.is_dir())[:2]
    done = freeproj("compare", one, other)
    assert done.code == 0
    told = " ".join(done.out.split())
    assert "Needs: runs of the same task and seeds" in told
    assert "They differ in one setting: seed" in told


def test_nothing_to_compare_is_refused(runs, freeproj, tmp_path):
    assert "have the same settings" in freeproj("compare", runs / "slow").err
    done = freeproj("compare", runs / "slow", runs / "fast", "--on", "til")
    assert done.code == 2
    assert "no run was tested on 'til'" in done.err


def test_an_exported_agent_is_used_like_a_run(runs, freeproj, tmp_path):
    run = next(each for each in (runs / "slow").iterdir() if each.is_dir())
    file = tmp_path / "agent.npz"
    done = freeproj("export", run, file, "--json")
    assert done.code == 0
    card = json.loads(done.out)
    assert card["task"] == ["RepeatFirst"]
    assert set(card["returns"]) == {"tile", "minus_tile", "random", "zero"}
    tested = [freeproj("evaluate", each, "--json") for each in (run, file)]
    assert tested[0].out == tested[1].out
    assert freeproj("export", run, tmp_path / "agent.zip").code == 2


@pytest.mark.slow
def test_the_demo_shows_an_agent_that_adapts(freeproj, tmp_path):
    done = freeproj("demo", "--out", tmp_path, "--json")
    assert done.code == 0
    found = json.loads(done.out)
    frame = found["frame"]
    assert frame[-1] >= 0.9
    assert frame[-1] > frame[0] + 0.3
    assert frame[-1] > max(found["blanked"]) + 0.5
    assert frame[-1] > max(found["ordinary"]) + 0.3
    image = pytest.importorskip("PIL.Image")
    with image.open(found["gif"]) as gif:
        assert gif.n_frames > 30
