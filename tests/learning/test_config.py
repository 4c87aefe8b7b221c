"""Settings: the paper's by default, refused where they make no sense, named by hash."""

import dataclasses
import datetime
import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeproj import FreeProjection
from freeproj.experiments.settings import (
    SHIPPED,
    config_from,
    read_config,
    run_name,
    to_toml,
)
from freeproj.learning.config import TrainConfig

pytestmark = pytest.mark.fast


def test_defaults_are_the_papers():
    config = TrainConfig()
    assert (config.n_envs, config.n_steps, config.n_updates) == (64, 1024, 228)
    assert (config.n_trials, config.redraw_every) == (16, 1)
    assert (config.ppo.n_epochs, config.ppo.n_minibatches) == (30, 8)
    assert (config.ppo.learning_rate, config.ppo.adam_epsilon) == (5e-5, 1e-5)
    assert (config.ppo.discount, config.ppo.gae_lambda, config.ppo.clip) == (
        0.99,
        1,
        0.2,
    )
    assert (config.ppo.max_grad_norm, config.ppo.value_weight) == (0.5, 1.0)
    assert config.ppo.entropy_weight == 0
    assert config.projection.n_words == 256
    assert config.projection.dim == 128
    assert not config.normalize_observations
    assert config.running_episodes == "keep"  # Algorithm 1
    # The paper's sentence on its test map, beside the same map at training's norm.
    stated = {"evaluation.maps": ["tile", "tile_literal"]}
    assert read_config("paper") == read_config(settings=stated)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_settings_come_back_from_their_toml(name):
    config = read_config(name)
    assert config_from(tomllib.loads(to_toml(config))) == config


@given(st.integers(0, 9), st.sampled_from([1, 2, 4, 8]), st.floats(0, 1))
def test_written_settings_are_read_back_as_they_were(seed, length, discount):
    settings = {"seed": seed, "projection.length": length, "ppo.discount": discount}
    config = read_config("smoke", settings)
    assert config_from(tomllib.loads(to_toml(config))) == config
    assert config.projection.n_words == 256


def test_different_settings_have_different_names():
    base = read_config("smoke")
    others = [
        dataclasses.replace(base, seed=1),
        dataclasses.replace(base, n_updates=5),
        dataclasses.replace(base, projection=FreeProjection(2, 8, dim=32)),
        dataclasses.replace(base, ppo=dataclasses.replace(base.ppo, discount=0.9)),
    ]
    names = {run_name(config) for config in [base, *others]}
    assert len(names) == 5
    assert run_name(read_config("smoke")) == run_name(base)


def test_several_tasks_may_be_listed():
    config = read_config("smoke", {"task": ["RepeatFirst", "HigherLower"]})
    assert config.tasks == ("RepeatFirst", "HigherLower")
    assert config.training_env().action_space.n == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nosuch": 1}, "No setting `nosuch`. Known: task"),
        ({"ppo.nosuch": 1}, "No setting `ppo.nosuch`. Did you mean `ppo.n_epochs`"),
        ({"ppo": 1}, "`ppo` must be a table"),
        ({"task.x": 1}, "No setting `task.x`"),
        ({"n_envs": "many"}, "`n_envs` must be"),
        ({"n_envs": 2.5}, "`n_envs` must be"),
        ({"n_envs": True}, "`n_envs` must be"),
        ({"n_envs": 3}, "multiple of `ppo.n_minibatches`"),
        ({"n_updates": 0}, "n_updates"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "`seed` must"),
        ({"task": "nosuch"}, "No task 'nosuch'"),
        ({"memory": "lstmm"}, "Did you mean `lstm`"),
        ({"ppo.discount": 1.5}, "discount"),
        ({"ppo.learning_rate": 0}, "learning_rate"),
        ({"ppo.averaging": 0.9}, "No setting `ppo.averaging`"),
        ({"ppo.learning_rate_schedule": "x"}, "learning_rate_schedule"),
        ({"projection.length": 3}, "nearest"),
        ({"projection.n_generators": 3}, "not both"),
        ({"evaluation.map": "nosuch"}, "Known: tile, minus_tile"),
        ({"evaluation.task": "StatelessCartPole"}, "not held out"),
        ({"evaluation.task": "StatelessPendulum"}, "do not mix"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_their_rule(settings, message):
    with pytest.raises(ValueError, match=message):
        read_config("smoke", settings)


def test_settings_that_were_removed_may_be_listed_at_zero():
    removed = {"ppo.averaging": 0.0, "ppo.advantage_floor": 0.0}
    assert read_config("smoke", removed) == read_config("smoke")


def test_files_that_are_not_there_or_not_toml_are_refused(tmp_path):
    with pytest.raises(
        FileNotFoundError, match="laptop, paper, release, separated, smoke"
    ):
        read_config("nosuch.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("task = ")
    with pytest.raises(ValueError, match="is not TOML"):
        read_config(broken)


_COUNTS = (
    *("n_updates", "n_envs", "n_steps", "n_trials", "redraw_every", "ppo.n_epochs"),
    *("ppo.n_minibatches", "network.hidden_size", "network.window"),
    *("evaluation.every", "evaluation.n_envs", "evaluation.n_steps"),
    *("projection.n_generators", "projection.dim", "projection.input_dim"),
)
_REALS = ("learning_rate", "adam_epsilon", "value_weight", "entropy_weight")
_ODD = (math.nan, -math.inf, "abc", [1], {"a": 1}, datetime.date(2024, 1, 1), True)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in _COUNTS for value in (-1, 2**31, 10**20, *_ODD)),
        *((f"ppo.{key}", v) for key in _REALS for v in (-1, math.inf, 10**400, *_ODD)),
        *((key, v) for key in ("ppo.max_grad_norm", "ppo.clip") for v in (0, *_ODD)),
        *(("seed", value) for value in (-1, 2**64, 1.5, *_ODD)),
        *(("projection.length", value) for value in (0, 10**9, 10**20, *_ODD)),
        *(("projection.scale", value) for value in (0, math.inf, *_ODD)),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(key, value):
    with pytest.raises(ValueError, match=key.rpartition(".")[2]):
        read_config("smoke", {key: value})


def test_steps_of_all_environments_are_counted_in_32_bits():
    with pytest.raises(ValueError, match="`n_envs` · `n_steps` must be below 2"):
        read_config("smoke", {"n_envs": 2**16, "n_steps": 2**16})
