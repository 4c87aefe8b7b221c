"""Laws of studies: which runs a grid stands for, and what it refuses."""

import dataclasses
import tomllib

import pytest

from freeproj.envs import REGISTRY, Discrete
from freeproj.experiments.settings import SHIPPED, config_from, read_config, to_toml
from freeproj.experiments.study import STUDIES, Grid, read_study, stated_before

GRID = """
base = "smoke"
[grid]
tasks = ["HigherLower", "RepeatFirst"]
memories = ["gru", "s5"]
lengths = [1, 4]
seeds = 3
"""


def read(tmp_path, text, settings=None):
    path = tmp_path / "study.toml"
    path.write_text(text)
    return read_study(path, settings)


def cells(study):
    return [(c.task, c.memory, c.projection.length, c.seed) for c in study.runs()]


def test_the_runs_are_every_combination_and_the_last_key_changes_fastest(tmp_path):
    expected = [
        (task, memory, length, seed)
        for task in ("HigherLower", "RepeatFirst")
        for memory in ("gru", "s5")
        for length in (1, 4)
        for seed in (0, 1, 2)
    ]
    assert cells(read(tmp_path, GRID)) == expected


def test_lengths_keep_the_number_of_words(tmp_path):
    shapes = {
        c.projection.n_generators**c.projection.length
        for c in read(tmp_path, GRID).runs()
    }
    assert shapes == {256}


def test_any_key_of_the_settings_can_vary(tmp_path):
    text = 'base = "smoke"\n[grid]\nppo.discount = [0.9, 0.95]\nn_envs = [8, 16]\n'
    runs = read(tmp_path, text).runs()
    assert [(c.ppo.discount, c.n_envs) for c in runs] == [
        (0.9, 8), (0.9, 16), (0.95, 8), (0.95, 16)
    ]  # fmt: skip


def test_several_tasks_can_be_one_value(tmp_path):
    text = 'base = "smoke"\n[grid]\ntasks = [["HigherLower", "RepeatFirst"]]\n'
    (run,) = read(tmp_path, text).runs()
    assert run.tasks == ("HigherLower", "RepeatFirst")


def test_excluded_runs_are_those_that_match_every_key(tmp_path):
    text = GRID + '[[exclude]]\nmemory = "s5"\nlength = [4]\n'
    every, kept = cells(read(tmp_path, GRID)), cells(read(tmp_path, text))
    assert kept == [cell for cell in every if cell[1:3] != ("s5", 4)]


def test_overrides_hold_where_they_match_and_in_their_order(tmp_path):
    text = GRID + (
        '[[override]]\nmatch = { task = "RepeatFirst" }\nset = { n_updates = 7 }\n'
        '[[override]]\nmatch = { memory = "s5" }\nset = { n_updates = 9 }\n'
    )
    for run in read(tmp_path, text).runs():
        expected = {"gru": {"RepeatFirst": 7}.get(str(run.task), 4), "s5": 9}
        assert run.n_updates == expected[run.memory]


def test_settings_replace_axes_of_the_grid_and_come_last_elsewhere(tmp_path):
    text = GRID + '[[override]]\nmatch = {memory = "s5"}\nset = {n_updates = 9}\n'
    changed = {"seeds": [5], "n_updates": 2, "tasks": "Minesweeper"}
    study = read(tmp_path, text, changed)
    assert {(c.seed, c.n_updates, c.task) for c in study.runs()} == {
        (5, 2, "Minesweeper")
    }
    assert len(study.runs()) == 4


def test_a_base_can_be_a_table_or_a_file_beside_the_study(tmp_path):
    smoke = to_toml(read_config("smoke"))
    (tmp_path / "mine.toml").write_text(smoke)
    (from_file,) = read(tmp_path, 'base = "mine.toml"\n[grid]\nseeds = [0]\n').runs()
    table = config_from(tomllib.loads(smoke))
    assert from_file == table
    (from_table,) = read(
        tmp_path, "[grid]\nseeds = [0]\n[base]\nn_updates = 3\n"
    ).runs()
    assert from_table == config_from({"n_updates": 3})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base = 3\n[grid]\nseeds = 1\n", "`base` must name"),
        ("[grid]\nseeds = 1\n", "`base` must name"),
        ('base = "nosuch"\n[grid]\nseeds = 1\n', "nosuch: no such file.*smoke"),
        ('base = "smoke"\n', r"\[grid\] must be a table"),
        ('base = "smoke"\ngird = 1\n', "No key `gird`.*grid"),
        ('base = "smoke"\n[grid]\nseeds = 0\n', "`seed` in the grid must list"),
        ('base = "smoke"\n[grid]\nseeds = []\n', "`seed` in the grid must list"),
        ('base = "smoke"\n[grid]\nseed = 1\nseeds = 2\n', "`seed` twice"),
        ('base = "smoke"\n[grid]\nmemories = ["lstmm"]\n', "memory.*lstm"),
        ('base = "smoke"\n[grid]\ntasks = ["Chess"]\n', "Chess"),
        ('base = "smoke"\n[grid]\nlengths = [3]\n', "256"),
        ('base = "smoke"\n[grid]\nppo.clop = [1]\n', "No setting `ppo.clop`"),
        ('base = "smoke"\n[grid]\nseeds = [1, 1]\n', "twice"),
        (GRID + '[[exclude]]\nmemory = "s6"\n', "matches no run"),
        (GRID + '[[exclude]]\nmemoro = "s5"\n', "no setting `memoro`"),
        (GRID + "[exclude]\nseed = 1\n", "array of tables"),
        (GRID + '[[exclude]]\nmemory = ["gru", "s5"]\n', "no runs"),
        (GRID + "[[override]]\nmatch = {seed = 1}\n", "`match` and `set`"),
        ("base = [", "is not TOML"),
    ],
)
def test_nonsense_is_refused_in_one_line(tmp_path, text, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message) as caught:
        read(tmp_path, text).runs()
    assert "\n" not in str(caught.value)


def test_an_unknown_study_names_the_shipped_ones(tmp_path):
    with pytest.raises(FileNotFoundError, match="paper, quick"):
        read_study(tmp_path / "nosuch.toml")


def test_the_papers_study_is_its_table():
    runs = read_study("paper").runs()
    assert len(runs) == 400
    assert len({c.task for c in runs}) == 5
    assert {c.projection.n_words for c in runs} == {256}
    # Beyond what the grid says every run has the paper's settings.
    plain = {
        dataclasses.replace(
            c, task="RepeatFirst", memory="gru", seed=0, projection=runs[0].projection
        )
        for c in runs
    }
    expected = read_config("paper", {"task": "RepeatFirst", "projection.length": 1})
    assert plain == {expected}


def test_quick_shows_the_missing_sign_in_one_program_and_a_frame_beside_none():
    runs = read_study("quick").runs()
    cards = [c for c in runs if c.task == "HigherLower"]
    assert len({c.program for c in cards}) == 1
    cells = {(c.projection.family, c.projection.length) for c in cards}
    assert cells == {("qr", 1), ("qr", 2), ("haar", 1), ("haar", 2)}
    assert cards[0].test_maps == ("tile_unit", "minus_tile", "random", "zero")
    poles = [c for c in runs if c.task == "StatelessCartPole"]
    assert {c.encoder for c in poles} == {"none", "frame"}
    assert len({dataclasses.replace(c, encoder="none", seed=0) for c in poles}) == 1
    assert not any(c.previous_reward for c in runs)


def test_why_table_1_has_all_five_tasks_balanced_by_seed():
    runs = read_study("why-table-1").runs()
    cells = {}
    for c in runs:
        law = c.projection
        cell = (c.task, c.redraw_every, law.family, law.length)
        cells.setdefault(cell, set()).add(c.seed)
    assert {cell[0] for cell in cells} == {c.task for c in read_study("paper").runs()}
    assert {frozenset(seeds) for seeds in cells.values()} == {
        frozenset(range(10)),
        frozenset(range(20)),
    }
    # Seeds first: a study that is stopped half-way is balanced.
    assert [c.seed for c in runs] == sorted(c.seed for c in runs)


def test_shipped_studies_are_listed_and_stand_on_shipped_settings():
    assert {"paper", "quick", "why-table-1", "storage"} <= set(STUDIES)
    assert all(read_study(name).base in SHIPPED for name in STUDIES)


def test_the_study_of_all_families_never_trains_on_the_one_it_tests():
    tasks = {name: family.make() for name, family in REGISTRY.items()}
    discrete = {n for n, t in tasks.items() if isinstance(t.action_space, Discrete)}
    discrete.remove("FlashCards")  # not a task of POPGym
    assert len(discrete) == 14
    for config in read_study("held-out-task-popgym").runs():
        assert set(config.task) == discrete - {config.evaluation.task}
        sizes = [tasks[name].observation_space.size for name in discrete]
        assert max(sizes) <= config.projection.dim


def test_a_study_can_be_made_in_python():
    study = Grid(base={"n_envs": 8}, grid={"seed": (0, 1)})
    assert [c.seed for c in study.runs()] == [0, 1]


def test_one_seed_and_a_number_of_seeds_differ():
    assert {run.seed for run in read_study("quick", {"seed": 3}).runs()} == {3}
    assert {run.seed for run in read_study("quick", {"seeds": 2}).runs()} == {0, 1}


@pytest.mark.parametrize("name", STUDIES)
def test_shipped_studies_say_beforehand_what_they_ask(name):
    stated = stated_before(name)
    assert set(stated) == {"question", "margin", "seeds", "looks"}
    assert read_study(name).stated == stated
    assert stated_before("no such study") == {}


@pytest.mark.parametrize("table", ['question = "?"', "question = 1.5", "looks = []"])
def test_a_statement_has_all_its_parts_or_none(table, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(f'base = "smoke"\n[grid]\nseeds = 1\n[stated]\n{table}')
    with pytest.raises(ValueError, match="must have question, margin, seeds, looks"):
        read_study(path)
