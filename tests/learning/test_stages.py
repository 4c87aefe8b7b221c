"""Curricula: stages of a run, each from the agent before."""

import dataclasses

import jax
import numpy as np
import pytest

from freeproj.experiments import run_seeds
from freeproj.experiments.run import Run, open_run, read_run, run_training
from freeproj.experiments.settings import config_from, run_name, to_toml
from freeproj.learning.config import TrainConfig
from freeproj.learning.many_seeds import train_seeds
from freeproj.learning.train import train
from freeproj.storage.toml import parse_toml

SMALL = """
task = "RepeatPrevious"
n_updates = 4
n_envs = 4
n_steps = 8
n_trials = 1
encoder = "frame"
[projection]
n_generators = 2
length = 2
dim = 16
[ppo]
n_epochs = 1
n_minibatches = 2
learning_rate_schedule = "linear"
[network]
embedding_size = 8
hidden_size = 8
head_size = 8
[evaluation]
every = 2
n_envs = 2
n_steps = 8
[[stages]]
n_updates = 1
task = "RepeatPrevious(delay=0)"
[[stages]]
n_updates = 2
task = "RepeatPrevious(delay=1)"
n_steps = 16
ppo.learning_rate = 1e-3
"""


def small() -> TrainConfig:
    return config_from(parse_toml(SMALL, "a test"))


def test_stages_are_settings_of_their_own_and_the_last_are_the_runs():
    stages = small().stage_configs
    assert [stage.task for stage in stages] == [
        "RepeatPrevious(delay=0)",
        "RepeatPrevious(delay=1)",
        "RepeatPrevious",
    ]
    assert [stage.n_updates for stage in stages] == [1, 2, 1]
    assert [stage.ppo.learning_rate for stage in stages] == [5e-5, 1e-3, 5e-5]
    assert [small().stage_of(number) for number in (1, 2, 3, 4)] == [0, 1, 1, 2]


def test_settings_with_stages_are_written_and_read_back():
    config = small()
    assert config_from(parse_toml(to_toml(config), "itself")) == config
    assert run_name(config) != run_name(dataclasses.replace(config, stages=()))


def test_a_stage_starts_from_the_agent_before():
    config = small()
    states = {}
    train(
        jax.random.key(0),
        config,
        report=lambda now, row: states.update({len(states): jax.device_get(now.agent)}),
    )
    first = config.stage_configs[0]
    alone = train(jax.random.key(0), first)
    for a, b in zip(
        jax.tree.leaves(states[0]), jax.tree.leaves(alone.agent), strict=True
    ):
        np.testing.assert_array_equal(a, b)


class KilledError(Exception):
    """Stands for a process that ends in mid-run."""


@pytest.mark.parametrize("n_done", [1, 2, 3])
def test_a_run_resumes_within_and_between_stages_bit_for_bit(tmp_path, n_done):
    config = small()

    def kill(row):
        if row["update"] == n_done:
            raise KilledError

    with pytest.raises(KilledError):
        run_training(config, tmp_path / "broken", report=kill)
    whole = run_training(config, tmp_path / "whole")
    resumed = run_training(config, tmp_path / "broken")
    for name in ("log.jsonl", "final.json", "agent.npz"):
        assert (resumed.folder / name).read_bytes() == (
            whole.folder / name
        ).read_bytes()
    assert read_run(whole.folder).config == config
    assert open_run(tmp_path / "whole", config).is_finished


def test_seeds_of_a_curriculum_are_trained_one_by_one(tmp_path, monkeypatch):
    configs = [dataclasses.replace(small(), seed=seed) for seed in (0, 1)]
    with pytest.raises(ValueError, match="one by one"):
        train_seeds([jax.random.key(0)], configs[0])

    def train_one(config, out, report):
        return Run(out, config)

    monkeypatch.setattr(run_seeds, "run_training", train_one)
    found = run_seeds.run_seeds(configs, tmp_path)
    assert [run.config for run in found] == configs


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ({"n_updates": 4}, "leave at least one"),
        ({"task": "RepeatPrevious"}, "n_updates"),
        ({"n_updates": 1, "memory": "s5"}, "leave the agent as it is"),
        ({"n_updates": 1, "task": "HigherLower"}, "show and take"),
        ({"n_updates": 1, "tusk": "HigherLower"}, "Did you mean `task`"),
    ],
)
def test_stages_that_cannot_be_are_refused(stage, words):
    values = parse_toml(SMALL, "a test") | {"stages": [stage]}
    with pytest.raises(ValueError, match=words):
        config_from(values)
