"""Estimate what a run will take from a short update, before hours are spent.

The unit of work is the forward pass of one sample. Learning from a sample takes three
units, as a backward pass costs two. An update of n samples and E epochs is then
n·(1 + 3E) units, and an evaluation is its number of steps in all environments. Drawing
matrices is timed apart. All times are medians of several.
"""

import dataclasses
import functools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from freeproj.learning.config import TrainConfig
from freeproj.learning.train import draw_params, start, update
from freeproj.storage.cache import use_cache

__all__ = ["Cost", "measure_cost", "run_bytes", "run_seconds", "work"]

_STEPS, _EPOCHS, _REPEATS = 64, 2, 5


class Cost(NamedTuple):
    """What was measured in a process with one thread."""

    start_seconds: float  # tracing and compiling, or reading compiled programs
    unit_seconds: float  # of one unit of work
    draw_seconds: float  # of drawing the matrices of all words once
    process_bytes: float  # of the process itself
    sample_bytes: float  # further bytes for each sample of a rollout


def measure_cost(config: TrainConfig) -> Cost:
    """Time updates of few steps and epochs, with the run's own networks."""
    use_cache()
    began = time.perf_counter()
    ppo = dataclasses.replace(config.ppo, n_epochs=min(_EPOCHS, config.ppo.n_epochs))
    n_steps, key = min(_STEPS, config.n_steps), jax.random.key(0)
    short = dataclasses.replace(config, n_steps=n_steps, ppo=ppo)
    state, params = start(key, short), draw_params(key, short)
    step = jax.jit(functools.partial(update, config=short))
    step = step.lower(state, params).compile()
    start_seconds = time.perf_counter() - began
    memory = step.memory_analysis()
    sample_bytes = memory.temp_size_in_bytes / (short.n_envs * n_steps) if memory else 0
    unit_seconds = _median_seconds(step, state, params) / _update_work(short)
    draw_seconds = _median_seconds(draw_params, key, short)
    return Cost(start_seconds, unit_seconds, draw_seconds, _held_bytes(), sample_bytes)


def work(config: TrainConfig) -> int:
    """Count the units of a whole run: its updates and its evaluations."""
    plan, every = config.evaluation, config.evaluation.every
    n_steps = plan.n_steps
    if plan.episodes:  # an upper bound: it ends once every environment has finished
        n_steps = max(n_steps, config.evaluation_env().max_steps)
    n_tests = -(-config.n_updates // every) if every else 0
    n_played = n_tests * len(config.test_maps) * plan.n_envs * n_steps
    return config.n_updates * _update_work(config) + n_played


def run_seconds(config: TrainConfig, cost: Cost) -> float:
    """Estimate the time of a run in a process that has its programs."""
    every = config.redraw_every
    n_draws = -(-config.n_updates // every) if every else 1
    return cost.unit_seconds * work(config) + cost.draw_seconds * n_draws


def run_bytes(config: TrainConfig, cost: Cost) -> float:
    """Estimate the memory of the process of a run."""
    return cost.process_bytes + cost.sample_bytes * config.n_envs * config.n_steps


def _update_work(config: TrainConfig) -> int:
    return config.n_envs * config.n_steps * (1 + 3 * config.ppo.n_epochs)


def _median_seconds(function: Callable[..., Any], *arguments: Any) -> float:
    jax.block_until_ready(function(*arguments))  # not timed: it may compile
    times = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _held_bytes() -> int:
    """Return the most memory that this process has held."""
    try:
        import resource
    except ImportError:  # Windows cannot be asked: a value measured elsewhere
        return 2**29
    # Counted in kibibytes on Linux, in bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
