"""What training says at its end: numbers with company, dashes with a reason."""

import json
import math
import re
from pathlib import Path

from freeproj.cli.train import summary, summary_text
from freeproj.experiments.progress import TrainProgress, number
from freeproj.experiments.settings import SHIPPED, read_config

ROW = {
    "update": 4,
    "steps": 2048,
    "train/episode_return": math.nan,
    "test/tile/episodes/episode_return": 1.5,
    "test/tile/episodes/episode_return_std": 0.8,
    "test/tile/episodes/n_finished": 16,
    "test/zero/episodes/episode_return": 0.25,
    "test/zero/episodes/episode_return_std": 0.0,
    "test/zero/episodes/n_finished": 16,
}


def test_a_test_stands_beside_chance_best_and_blindness():
    config = read_config("smoke")
    text = summary_text(config, summary(config, Path("runs/a b"), ROW))
    assert "1.50 ± 0.20 (projection tile, 16 episodes" in text
    assert "0.25 ± 0.00 (observation blanked" in text
    assert "StatelessCartPole: chance " in text
    assert "freeproj watch 'runs/a b'" in text
    assert "freeproj evaluate 'runs/a b'" in text


def test_no_data_is_null_in_json_and_a_dash_with_its_reason_in_text():
    config = read_config("demo")
    found = summary(config, Path("runs/x"), {"update": 1, "steps": 9})
    assert "NaN" not in json.dumps(found)
    assert found["test"]["random"]["return"] is None
    text = summary_text(config, found)
    assert "– (evaluation.every is 0, nothing was tested)" in text
    assert "chance -3.00, best open-loop -3.00, best 6.00" in text
    assert "nan" not in text
    assert number(math.nan) == "–"


def test_the_help_names_every_preset(freeproj):
    told = set(re.findall(r"\w+", freeproj("train", "--help").out))
    assert set(SHIPPED) <= told


def test_progress_names_a_test_only_where_there_is_one(capsys):
    for preset, shown in (("demo", "train 0.50"), ("smoke", "train 0.50  test –")):
        with TrainProgress(read_config(preset)) as progress:
            progress.show({"update": 1, "train/episode_return": 0.5})
        assert capsys.readouterr().err.strip().endswith(shown)


def test_progress_in_a_notebook_is_one_line_that_changes(capsys):
    config = read_config("demo", {"n_updates": 240})
    with TrainProgress(config) as progress:
        progress._console.is_jupyter = True
        for update in (1, 2):
            progress.show({"update": update, "train/episode_return": 0.5})
    lines = capsys.readouterr().out.split("\r")
    assert [line[:7] for line in lines if line] == ["[1/240]", "[2/240]"]
