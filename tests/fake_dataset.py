"""Datasets of runs that were never trained, made in memory. Only for tests."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
import zlib
from itertools import product

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.experiments.measures import length_of
from freeproj.experiments.records import RunRecord
from freeproj.experiments.settings import flat_settings, run_name, to_toml
from freeproj.experiments.study import read_study

DEFAULTS = {
    "task": "HigherLower",
    "memory": "gru",
    "n_updates": 40,
    "n_envs": 8,
    "n_steps": 64,
    "n_trials": 16,
    "redraw_every": 1,
    "previous_reward": False,
    "observation": "projected",
    "projection.length": 1,
    "projection.family": "haar",
    "projection.dim": 128,
    "evaluation.task": "",
    "evaluation.maps": ("tile_unit", "minus_tile", "random"),
    "ppo.discount": 0.99,
}
MAPS = ("tile_unit", "minus_tile", "random", "zero")


def fake_dataset(
    grid=None, n_seeds=10, trial_return=None, noise=0.02, maps=MAPS, **fixed
):
    """Return runs over a grid of dotted settings.

    `trial_return(settings, map)` is the mean return of a trial; `train` is a map too.
    `projection.n_words` is 256 unless `projection.n_generators` is given.
    """
    grid = {key: tuple(values) for key, values in (grid or {}).items()}
    trial_return = trial_return or (lambda settings, name: 0.0)
    runs = []
    for index, values in enumerate(product(*grid.values(), range(n_seeds))):
        settings = {**DEFAULTS, **fixed, **dict(zip(grid, values, strict=False))}
        settings["seed"] = values[-1]
        _complete(settings)
        rng = np.random.default_rng([index, values[-1]])
        runs.append(
            _record(index, settings, trial_return, noise, maps, lambda _, rng=rng: rng)
        )
    return Dataset(tuple(runs))


def _complete(settings):
    length = settings["projection.length"]
    n = settings.get("projection.n_generators")
    if n is None:
        words = settings.get("projection.n_words", 256)
        settings["projection.n_generators"] = round(words ** (1 / length))
    settings["projection.n_words"] = settings["projection.n_generators"] ** length


def _record(index, settings, trial_return, noise, maps, rng_of):
    updates = np.arange(4, settings["n_updates"] + 1, 4)
    shape = len(updates)
    metrics = {"steps": updates * 512.0}
    for name in (*maps, "train"):
        rng = rng_of(name)
        level = trial_return(settings, name) + noise * rng.standard_normal()
        n_trials = length_of(settings, name)
        curve = n_trials * (level + noise * rng.standard_normal(shape))
        prefix = "train" if name == "train" else f"test/{name}/episodes"
        metrics[f"{prefix}/episode_return"] = curve
        metrics[f"{prefix}/n_finished"] = np.full(shape, 8.0)
        metrics[f"{prefix}/n_unfinished"] = np.zeros(shape)
        if name != "train":
            metrics[f"test/{name}/trial_returns"] = np.full((shape, n_trials), level)
    return RunRecord(f"run{index}", settings, "finished", updates, metrics, seconds=9.0)


def why_table_1(n_seeds=10, tasks=("HigherLower", "RepeatPrevious"), **fixed):
    """Return runs with the pattern of the pilots: raw QR ℓ = 1 is wrong on tile."""

    def trial_return(settings, name):
        chance = {"HigherLower": 0.0, "RepeatPrevious": -0.49}.get(
            settings["task"], 0.0
        )
        slip = (
            settings["projection.family"] == "qr" and settings["projection.length"] == 1
        )
        turn = {"tile_unit": -0.35, "minus_tile": 0.35}.get(name, 0.0)
        learned = 0.3 if name == "train" and settings["redraw_every"] == 0 else 0.0
        return chance + turn * slip + learned

    grid = {
        "task": tasks,
        "projection.family": ("qr", "haar"),
        "redraw_every": (1, 0),
        "projection.length": (1, 2, 4, 8),
    }
    return fake_dataset(grid, n_seeds, trial_return, **fixed)


def shipped(name, n_seeds=3, trial_return=None, noise=0.02):
    """Return runs with all settings of a shipped study and made-up returns."""
    trial_return = trial_return or (lambda settings, map_name: 0.0)
    runs = []
    for config in read_study(name, {"seeds": n_seeds}).runs():
        table = tomllib.loads(to_toml(config)) | {"written_by": {}}
        settings = flat_settings(table)
        maps = dict.fromkeys([*config.evaluation.maps, "zero"])
        rng_of = functools.partial(_rng_of_agent, settings)
        run = _record(0, settings, trial_return, noise, maps, rng_of)
        runs.append(dataclasses.replace(run, name=run_name(config)))
    return Dataset(tuple(runs))


def _rng_of_agent(settings, map_name):
    """The same agent earns the same on a map, whatever else it is tested on."""
    agent = {k: v for k, v in settings.items() if not k.startswith("evaluation.")}
    text = f"{sorted(agent.items())} {settings['evaluation.task']} {map_name}"
    return np.random.default_rng(zlib.crc32(text.encode()))


def together(*datasets):
    """Return several datasets as one, as if their runs lay in one folder."""
    return Dataset(tuple(run for each in datasets for run in each.runs))
