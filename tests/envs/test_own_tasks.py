"""Tasks of one's own: by `module:attribute` or as the thing itself, wherever a task is
named."""

import pytest

from corridor import SHORT, Corridor, long_corridor
from freeproj import FreeProjection
from freeproj.envs import HigherLower, make, task_name
from freeproj.experiments.run import open_run, read_run
from freeproj.experiments.settings import read_config, run_name
from freeproj.learning.config import EvaluationConfig, TrainConfig
from own_things import backwards, make_gru, signs


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("corridor:Corridor", Corridor()),
        ("corridor:long_corridor", Corridor(9, 20)),
        ("corridor:SHORT", SHORT),
    ],
)
def test_a_class_a_maker_and_an_instance_have_names(name, task):
    assert make(name) == task


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (Corridor, "corridor:Corridor"),
        (Corridor(), "corridor:Corridor"),
        (long_corridor, "corridor:long_corridor"),
        (HigherLower, "HigherLower"),
        (make("HigherLowerHard"), "HigherLowerHard"),
        ((HigherLower(), "RepeatFirst"), ("HigherLower", "RepeatFirst")),
    ],
)
def test_settings_take_the_task_itself_and_store_its_name(task, name):
    config = TrainConfig(task=task)
    assert config.task == name
    assert config == TrainConfig(task=name)


@pytest.mark.usefixtures("untyped")
def test_memories_families_and_maps_may_be_the_things_themselves():
    config = TrainConfig(
        memory=make_gru,
        projection=FreeProjection(4, 1, family=signs),
        evaluation=EvaluationConfig(maps=("tile", backwards)),
    )
    assert config.memory == "own_things:make_gru"
    assert config.projection.family == "own_things:signs"
    assert config.test_maps == ("tile", "own_things:backwards", "zero")


def test_a_task_with_arguments_needs_a_maker():
    with pytest.raises(ValueError, match="write a function"):
        task_name(Corridor(7, 7))
    with pytest.raises(ValueError, match="not a task"):
        task_name(3)
    with pytest.raises(ValueError, match="top level"):
        TrainConfig(task=lambda: Corridor())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("HigerLower", "Did you mean `HigherLower`"),
        ("corridor:Coridor", "Did you mean `Corridor`"),
        ("nosuch_module:Thing", "cannot be imported"),
        ("math:pi", "not a task"),
        ("math:cos", "'math:cos' cannot be made"),
        ("fractions:Fraction", "'fractions:Fraction'"),
    ],
)
def test_bad_names_are_refused_in_one_line(name, message):
    with pytest.raises(ValueError, match=message):
        make(name)


def test_the_folder_of_an_own_task_is_a_plain_name(tmp_path):
    config = read_config("smoke", {"task": "corridor:Corridor"})
    assert run_name(config).startswith("Corridor-gru-n4-l4-s0-")
    assert read_run(open_run(tmp_path, config).folder).config == config
