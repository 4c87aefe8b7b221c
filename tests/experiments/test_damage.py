"""A finished run proves that it is whole; one that cannot is named and left out."""

import json
import shutil

import pytest

from fake_study import write_study
from freeproj.experiments.agents import load_agent
from freeproj.experiments.dataset import read_dataset
from freeproj.experiments.engines import split_finished
from freeproj.experiments.log import to_line
from freeproj.experiments.run import read_run, run_training
from freeproj.experiments.run_seeds import run_seeds
from freeproj.experiments.settings import (
    SHIPPED,
    config_from,
    old_name,
    read_base,
    run_name,
    unresolved_config,
)
from freeproj.experiments.study import STUDIES, read_study

STUDY = {"tasks": ("HigherLower",), "memories": ("gru",), "lengths": (1, 4)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return write_study(folder, n_seeds=2, n_updates=8, **STUDY)


@pytest.fixture
def study(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "runs")


def drop(*numbers):
    """Return a surgery that deletes lines of the log."""

    def cut(folder):
        lines = (folder / "log.jsonl").read_text().splitlines(keepends=True)
        kept = [line for n, line in enumerate(lines) if n not in numbers]
        (folder / "log.jsonl").write_text("".join(kept))

    return cut


def change_last(folder):
    *lines, last = (folder / "log.jsonl").read_text().splitlines(keepends=True)
    row = json.loads(last) | {"test/tile/episodes/episode_return": 99.0}
    row.pop("crc", None)
    (folder / "log.jsonl").write_text("".join(lines) + to_line(row).decode())


def change_length(folder):
    text = (folder / "config.toml").read_text()
    changed = text.replace("length = 4", "length = 3").replace(
        "length = 1\n", "length = 2\n"
    )
    assert changed != text
    (folder / "config.toml").write_text(changed)


SURGERIES = {
    "the last line is gone": (drop(7), "holds 7 of 8 updates"),
    "the first line is gone": (drop(0), "the updates 1, 2, …"),
    "lines in the middle are gone": (drop(3, 4), "the updates 1, 2, …"),
    "the log is empty": (drop(*range(8)), "holds 0 of 8 updates"),
    "there is no log": (
        lambda folder: (folder / "log.jsonl").unlink(),
        "holds 0 of 8 updates",
    ),
    "the last line is another": (change_last, "not the last line"),
    "final.json is another": (
        lambda folder: (folder / "final.json").write_text("{}"),
        "not the last line",
    ),
    "final.json is cut": (
        lambda folder: (folder / "final.json").write_text('{"upd'),
        "",
    ),
    "settings are others": (change_length, "other settings than the folder's name"),
}


@pytest.mark.parametrize("name", SURGERIES)
def test_a_damaged_run_is_named_and_left_out(name, study):
    surgery, reason = SURGERIES[name]
    hurt, *others = (run.folder for run in read_dataset(study).runs)
    surgery(hurt)
    dataset = read_dataset(study)
    assert {run.folder for run in dataset.runs} == set(others)
    (aside,) = dataset.set_aside
    assert (aside.path, aside.health) == (hurt, "damaged")
    assert reason in aside.reason


@pytest.mark.parametrize("name", list(SURGERIES)[:8])
def test_a_damaged_run_is_not_taken_for_finished(name, study):
    hurt = read_dataset(study).runs[0].folder
    config = read_run(hurt).config
    assert split_finished([config], study) == ([], [config])
    SURGERIES[name][0](hurt)
    assert read_run(hurt).health == "damaged"
    assert split_finished([config], study) == ([config], [])
    with pytest.raises(ValueError, match="is damaged: "):
        run_training(config, study)
    (end,) = run_seeds([config], study)
    assert "move the folder away" in str(end)
    with pytest.raises(ValueError, match="is damaged: "):
        load_agent(hurt)


def test_a_run_may_have_a_name_of_its_own(study):
    folder = read_dataset(study).runs[0].folder
    folder.rename(study / "my-best-run")
    assert not read_dataset(study).set_aside


def test_the_table_names_a_damaged_run_and_counts_without_it(study, capsys):
    from freeproj.cli import main

    hurt = read_dataset(study).runs[0].folder
    drop(7)(hurt)
    main(["table", "table-results", "--runs", str(study), "--wide"])
    said = " ".join(capsys.readouterr().out.split())
    assert "4 runs: 3 finished, 1 damaged." in said
    assert hurt.name in said.replace(" ", "")  # long lines break, also at a hyphen
    assert "holds 7 of 8 updates" in said


def test_settings_that_are_not_resolved_have_the_same_name():
    tables = [read_base(name) for name in SHIPPED]
    for table in tables:
        config, plain = config_from(table), unresolved_config(table)
        assert plain == config
        assert run_name(plain) == run_name(config)
        assert old_name(plain) == old_name(config)
    for name in STUDIES:
        study = read_study(name)
        cell = next(iter(study._cells()))
        plain = unresolved_config(study._tables, {**study.settings, **cell})
        assert run_name(plain) == run_name(
            config_from(study._tables, {**study.settings, **cell})
        )
