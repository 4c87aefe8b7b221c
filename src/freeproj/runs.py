"""Training with a folder: from settings to a finished run, and back to its agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax

from freeproj.agents import ActorCritic
from freeproj.config import TrainConfig
from freeproj.metaenv import MetaEnv
from freeproj.results import Run, load_tree, open_run, read_run
from freeproj.training import start, train

__all__ = ["LoadedAgent", "load_agent", "run_training"]


class LoadedAgent(NamedTuple):
    """A trained agent, its settings, and the meta-environment that it was tested in."""

    agent: ActorCritic
    config: TrainConfig
    env: MetaEnv


def run_training(
    config: TrainConfig,
    out: str | Path = "runs",
    *,
    report: Callable[[dict[str, Any]], None] | None = None,
) -> Run:
    """Trains in a folder below `out`: starts, goes on, or finds the run finished.

    `report` is called with each new row of the log, after it is safe on disk.
    """
    run = open_run(out, config)
    with run.lock():
        if run.is_finished:
            return run
        key = jax.random.key(config.seed)
        state = None
        if run.has_checkpoint:
            state, _ = run.resume(jax.eval_shape(lambda: start(key, config)))
        else:
            run.cut(0)  # an update may be in the log whose checkpoint never came

        def record(state, row: dict[str, Any]) -> None:
            run.record(state, row)
            if report is not None:
                report(row)

        result = train(key, config, state=state, report=record)
        run.finish(result.agent)
    return run


def load_agent(folder: str | Path) -> LoadedAgent:
    """Loads the agent of a run: of its end or, while it lasts, of its last update."""
    run = read_run(folder)
    like = jax.eval_shape(lambda: start(jax.random.key(0), run.config))
    if run.is_finished:
        agent = load_tree(run.folder / "agent.npz", like.agent)
    elif run.has_checkpoint:
        agent = load_tree(run.folder / "checkpoint" / "state.npz", like).agent
    else:
        raise ValueError(f"{folder} has no agent yet: its first update is not done.")
    return LoadedAgent(agent, run.config, run.config.evaluation_env())
