"""Settings as text have history: names stay, old keys and old runs are still read."""

import dataclasses
import json
import math
import shutil
import tomllib
from pathlib import Path

import pytest

from freeproj.experiments import settings as module
from freeproj.experiments.engines import split_finished
from freeproj.experiments.run import open_run, read_run
from freeproj.experiments.settings import (
    RENAMED,
    config_from,
    digest,
    flat,
    flat_settings,
    old_name,
    read_config,
    run_name,
    to_toml,
)
from freeproj.learning.config import PPOConfig, TrainConfig

OLD = Path(__file__).parents[1] / "golden" / "run_0_1_0"


@dataclasses.dataclass(frozen=True, kw_only=True)
class LongerPPO(PPOConfig):
    """Tomorrow's settings: one more, with a default."""

    momentum: float = 0.25


def forget():
    """Forgets the defaults of another version."""
    module._defaults.cache_clear()
    module._default_config.cache_clear()


@pytest.fixture
def one_more_setting(monkeypatch):
    """Call the result to live in a version with one more defaulted setting."""

    def add():
        forget()
        longer = {"ppo": dataclasses.field(default_factory=LongerPPO)}
        config = dataclasses.make_dataclass(
            "TrainConfig",
            [("ppo", PPOConfig, longer["ppo"])],
            bases=(TrainConfig,),
            frozen=True,
            kw_only=True,
        )
        monkeypatch.setattr(module, "TrainConfig", config)

    yield add
    forget()


def test_finished_runs_stay_finished_when_a_defaulted_setting_is_added(
    tmp_path, one_more_setting
):
    before = read_config("smoke", {"seed": 3})
    run = open_run(tmp_path, before)
    rows = [json.dumps({"update": n}) for n in range(1, before.n_updates + 1)]
    (run.folder / "log.jsonl").write_text("\n".join(rows))
    (run.folder / "final.json").write_text(rows[-1])
    one_more_setting()
    after = read_config("smoke", {"seed": 3})
    assert "ppo.momentum" in flat(after)
    assert run_name(after) == run_name(before)
    todo, finished = split_finished([after], tmp_path)
    assert (len(todo), len(finished)) == (0, 1)
    assert run_name(read_config("smoke", {"ppo.momentum": 0.5})) != run_name(before)


def test_a_run_of_0_1_is_read_and_counts_as_finished(tmp_path):
    shutil.copytree(OLD, tmp_path / "runs")
    (folder,) = (tmp_path / "runs").iterdir()
    config = read_run(folder).config
    assert old_name(config) == folder.name != run_name(config)
    assert split_finished([config], tmp_path / "runs") == ([], [config])
    assert open_run(tmp_path / "runs", config).folder == folder
    assert len(open_run(tmp_path / "runs", config).log()) == 3
    other = dataclasses.replace(config, seed=2)
    assert split_finished([other], tmp_path / "runs") == ([other], [])


def test_an_unfinished_run_of_0_1_is_begun_anew(tmp_path):
    shutil.copytree(OLD, tmp_path / "runs")
    (folder,) = (tmp_path / "runs").iterdir()
    config = read_run(folder).config
    (folder / "final.json").unlink()
    assert open_run(tmp_path / "runs", config).folder.name == run_name(config)


def test_a_run_says_which_versions_wrote_it(tmp_path):
    run = open_run(tmp_path, read_config("smoke"))
    stored = tomllib.loads((run.folder / "config.toml").read_text())
    assert stored["written_by"]["schema"] == module.SCHEMA
    assert {"freeproj", "jax", "python"} <= stored["written_by"].keys()
    assert config_from(stored) == run.config == read_run(run.folder).config


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("discount", "ppo.discount"),
        ("ppo.discout", "ppo.discount"),
        ("discout", "ppo.discount"),
        ("evaluation.evry", "evaluation.every"),
        ("lenght", "projection.length"),
        ("projection.n_word", "projection.n_words"),
        ("n_update", "n_updates"),
    ],
)
def test_a_misspelt_key_gets_the_nearest_full_one(key, meant):
    with pytest.raises(ValueError, match=f"`{key}`. Did you mean `{meant}`?"):
        read_config("smoke", {key: 1})


def test_infinities_are_toml(tmp_path):
    config = read_config("smoke", {"ppo.max_grad_norm": math.inf})
    assert "max_grad_norm = inf" in to_toml(config)
    assert read_run(open_run(tmp_path, config).folder).config == config


def test_seeds_up_to_2_to_the_64_have_their_own_names():
    names = {digest(read_config("smoke", {"seed": s})) for s in (0, 2**32, 2**64 - 1)}
    assert len(names) == 3


def test_settings_without_defaults_are_what_the_dataclasses_say():
    config = read_config("laptop", {"projection.length": 2, "projection.dim": 64})
    plain = flat_settings(tomllib.loads(to_toml(config)) | {"written_by": {}})
    assert plain.pop("projection.n_words") == 256
    assert plain == flat(config)
    assert flat_settings({"projection": {"n_words": 256, "length": 2}})[
        "projection.n_generators"
    ] == 16  # fmt: skip


@pytest.mark.parametrize("old", RENAMED)
def test_renamed_keys_lead_to_keys_that_exist(old):
    known = flat(TrainConfig())
    assert RENAMED[old][0] in known
    assert old not in known


def test_a_date_or_a_deep_table_is_refused_in_one_line(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text("task = 2020-01-01")
    with pytest.raises(ValueError, match="`task` must be a str"):
        read_config(path)
    path.write_text("a = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(ValueError, match=r"x\.toml is nested too deeply"):
        read_config(path)
