"""What a run will take, from one short update: a guess before hours are spent.

The unit of work is the forward pass of one sample; learning from it takes three, as a
backward pass costs two. An update of n samples and E epochs is then n·(1 + 3E), an
evaluation its number of steps.
"""

from __future__ import annotations

import dataclasses
import functools
import resource
import time
from typing import NamedTuple

import jax

from freeproj.cache import use_cache
from freeproj.config import TrainConfig
from freeproj.training import start, update

__all__ = ["Cost", "measure_cost", "run_bytes", "run_seconds", "work"]

_STEPS, _EPOCHS, _REPEATS = 32, 2, 3


class Cost(NamedTuple):
    """What was measured in a process with one thread."""

    start_seconds: float  # tracing and compiling, or reading compiled programs
    unit_seconds: float  # of one unit of work
    process_bytes: float  # of the process itself
    sample_bytes: float  # more for each sample of a collection


def measure_cost(config: TrainConfig) -> Cost:
    """Times an update of few steps and epochs, with the run's own networks."""
    use_cache()
    short = _shortened(config)
    began = time.perf_counter()
    state = start(jax.random.key(0), short)
    step = jax.jit(functools.partial(update, config=short)).lower(state).compile()
    jax.block_until_ready(step(state))
    start_seconds = time.perf_counter() - began
    seconds = min(_time(step, state) for _ in range(_REPEATS))
    n_samples = short.n_envs * short.n_steps
    memory = step.memory_analysis()
    # ru_maxrss counts kibibytes on Linux.
    resident = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(
        start_seconds=start_seconds,
        unit_seconds=seconds / _update_work(short),
        process_bytes=resident,
        sample_bytes=memory.temp_size_in_bytes / n_samples if memory else 0.0,
    )


def work(config: TrainConfig) -> int:
    """Counts the units of a whole run: its updates and its evaluations."""
    plan, every = config.evaluation, config.evaluation.every
    n_steps = plan.n_steps
    if plan.episodes:  # at most: it ends once every environment has finished
        n_steps = max(n_steps, config.evaluation_env().max_steps)
    n_tests = -(-config.n_updates // every) if every else 0
    return config.n_updates * _update_work(config) + n_tests * plan.n_envs * n_steps


def run_seconds(config: TrainConfig, cost: Cost) -> float:
    """Estimates the time of a run in a process that has its programs."""
    return cost.unit_seconds * work(config)


def run_bytes(config: TrainConfig, cost: Cost) -> float:
    """Estimates the memory of the process of a run."""
    return cost.process_bytes + cost.sample_bytes * config.n_envs * config.n_steps


def _update_work(config: TrainConfig) -> int:
    return config.n_envs * config.n_steps * (1 + 3 * config.ppo.n_epochs)


def _shortened(config: TrainConfig) -> TrainConfig:
    n_epochs = min(_EPOCHS, config.ppo.n_epochs)
    return dataclasses.replace(
        config,
        n_steps=min(_STEPS, config.n_steps),
        ppo=dataclasses.replace(config.ppo, n_epochs=n_epochs),
    )


def _time(step, state) -> float:
    began = time.perf_counter()
    jax.block_until_ready(step(state))
    return time.perf_counter() - began
