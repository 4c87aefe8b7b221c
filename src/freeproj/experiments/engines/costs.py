"""What a run will take, from two short updates: a guess before hours are spent.

The unit of work is the forward pass of one sample; learning from it takes three, as a
backward pass costs two. An update of n samples and E epochs is then n·(1 + 3E), an
evaluation its number of steps. Updates of two lengths tell apart what each unit takes
and what every update takes whatever its length, such as new base matrices.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
import sys
import time
from typing import NamedTuple

import jax

from freeproj.cache import use_cache
from freeproj.config import TrainConfig
from freeproj.training import draw_params, start, update

__all__ = ["Cost", "measure_cost", "run_bytes", "run_seconds", "work"]

_STEPS, _EPOCHS, _REPEATS = (16, 64), 2, 5


class Cost(NamedTuple):
    """What was measured in a process with one thread."""

    start_seconds: float  # tracing and compiling, or reading compiled programs
    unit_seconds: float  # of one unit of work
    update_seconds: float  # of an update beyond its units
    process_bytes: float  # of the process itself
    sample_bytes: float  # more for each sample of a collection


def measure_cost(config: TrainConfig) -> Cost:
    """Time two updates of few steps and epochs, with the run's own networks."""
    use_cache()
    began = time.perf_counter()
    short, long = (_shortened(config, n_steps) for n_steps in _STEPS)
    quick, _ = _time_update(short)
    start_seconds = time.perf_counter() - began
    slow, sample_bytes = _time_update(long)
    more = _update_work(long) - _update_work(short)
    # Noise may make the longer one look cheaper: then all of its time is its work.
    unit = (slow - quick) / more if slow > quick and more else slow / _update_work(long)
    return Cost(
        start_seconds=start_seconds,
        unit_seconds=unit,
        update_seconds=max(slow - unit * _update_work(long), 0.0),
        process_bytes=_resident_bytes(),
        sample_bytes=sample_bytes,
    )


def work(config: TrainConfig) -> int:
    """Count the units of a whole run: its updates and its evaluations."""
    plan, every = config.evaluation, config.evaluation.every
    n_steps = plan.n_steps
    if plan.episodes:  # at most: it ends once every environment has finished
        n_steps = max(n_steps, config.evaluation_env().max_steps)
    n_tests = -(-config.n_updates // every) if every else 0
    return config.n_updates * _update_work(config) + n_tests * plan.n_envs * n_steps


def run_seconds(config: TrainConfig, cost: Cost) -> float:
    """Estimate the time of a run in a process that has its programs."""
    return cost.unit_seconds * work(config) + cost.update_seconds * config.n_updates


def run_bytes(config: TrainConfig, cost: Cost) -> float:
    """Estimate the memory of the process of a run."""
    return cost.process_bytes + cost.sample_bytes * config.n_envs * config.n_steps


def _update_work(config: TrainConfig) -> int:
    return config.n_envs * config.n_steps * (1 + 3 * config.ppo.n_epochs)


def _shortened(config: TrainConfig, n_steps: int) -> TrainConfig:
    n_epochs = min(_EPOCHS, config.ppo.n_epochs)
    return dataclasses.replace(
        config,
        n_steps=min(n_steps, config.n_steps),
        ppo=dataclasses.replace(config.ppo, n_epochs=n_epochs),
    )


def _time_update(config: TrainConfig) -> tuple[float, float]:
    """Return the seconds of an update, and the bytes that it needs for a sample."""
    key = jax.random.key(0)
    state, params = start(key, config), draw_params(key, config)
    step = jax.jit(functools.partial(update, config=config))
    step = step.lower(state, params).compile()
    jax.block_until_ready(step(state, params))
    times = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(step(state, params))
        times.append(time.perf_counter() - began)
    memory = step.memory_analysis()
    n_bytes = memory.temp_size_in_bytes if memory else 0.0
    return statistics.median(times), n_bytes / (config.n_envs * config.n_steps)


def _resident_bytes() -> int:
    """Return the most memory that this process has held."""
    try:
        import resource
    except ImportError:  # Windows: what a process held where it could be asked
        return 2**29
    # Counted in kibibytes on Linux, in bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
