"""Trained agents: load one, play with it, store it in one file.

    agent = load_agent("flash-cards")             # shipped; or a run, or a file
    action = agent.act(observation)               # remembers what it saw and did

A file holds weights, settings and a card: what the agent was trained on, what it earns
under which map, what it does not do, and the checksum of its weights. Nothing is
pickled. Weights that are not finite, or not those of the checksum, are refused.
"""

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import ArrayLike, Float

from freeproj.agents import ActorCritic
from freeproj.envs import task_name
from freeproj.experiments.arrays import check_weights, load_tree, save_tree, tree_digest
from freeproj.experiments.hub import WEIGHTS, read_hub
from freeproj.experiments.player import AgentPlayer
from freeproj.experiments.run import read_run, state_shapes
from freeproj.experiments.settings import config_from, find_shipped, to_toml
from freeproj.learning.config import TrainConfig
from freeproj.meta.episodes import MetaEnv
from freeproj.projection.spaces import Box
from freeproj.storage.arrays import read_arrays
from freeproj.storage.files import DAMAGED
from freeproj.storage.names import named_by
from freeproj.storage.toml import parse_toml

__all__ = ["PRETRAINED", "LoadedAgent", "export_agent", "load_agent"]

_Card = Mapping[str, Any]
_FOLDER = Path(__file__).parents[1] / "pretrained"
PRETRAINED = tuple(sorted(path.stem for path in _FOLDER.glob("*.npz")))


class LoadedAgent:
    """A trained agent: network, settings, card, and the memory with which it `act`s."""

    def __init__(
        self, agent: ActorCritic, config: TrainConfig, card: _Card | None = None
    ):
        self.agent, self.config, self.card = agent, config, dict(card or {})
        self._player: AgentPlayer | None = None

    @property
    def env(self) -> MetaEnv:
        """The meta-environment that the agent is tested in."""
        return self.config.evaluation_env("", self.config.test_maps[0])

    @property
    def own_task(self) -> str:
        """The task that the agent was trained on; of several, the first."""
        return self.config.tasks[0]

    def player(self, task: Any = "") -> AgentPlayer:
        """Return what plays many episodes of a task at once, for `certify`."""
        return AgentPlayer(self.agent, self.config, task_name(task))

    def reset(self, map: str = "tile", seed: int = 0) -> None:  # noqa: A002
        """Begin an episode, under a fixed map or `random`, one drawn by the seed."""
        if len(tasks := self.config.tasks) > 1:
            why = f"this agent was trained on {', '.join(tasks)}"
            raise ValueError(f"`act` needs one task; {why}: use `evaluate` instead.")
        self._player = AgentPlayer(self.agent, self.config, map_name=map)
        self._player.begin_drawn(seed)

    def act(
        self,
        observation: ArrayLike,
        reward: float = 0.0,
        trial_ended: bool = False,
        *,
        greedy: bool = False,
    ) -> int | Float[np.ndarray, " k"]:
        """Return an action for the task's own observation, as in a Gymnasium loop.

        Args:
            reward: of the previous action.
            trial_ended: whether that action ended a trial; memory is kept either way.
            greedy: take the likeliest action instead of sampling one.
        """
        if self._player is None:
            self.reset()
        assert self._player is not None
        (task,), size = self._player.env.tasks, self._player.env.observation_size
        seen = np.asarray(observation, np.float32)
        if seen.shape != (size,):
            rule = f"must have shape ({size},), got {seen.shape}"
            raise ValueError(f"An observation of {task.name} {rule}.")
        now = seen[None], np.array([reward]), np.array([trial_ended])
        (own,) = self._player.act(*now, greedy)
        return own if isinstance(task.action_space, Box) else int(own)

    def __repr__(self) -> str:
        config, law = self.config, self.config.projection
        n_weights = sum(leaf.size for leaf in jax.tree.leaves(self.agent))
        return (
            f"LoadedAgent({'+'.join(config.tasks)}, {config.memory}, "
            f"n = {law.n_generators}, ℓ = {law.length}, d = {law.dim}, "
            f"seed {config.seed}, {n_weights:,} weights)"
        )

    def _repr_html_(self) -> str:
        rows = ""
        for name, found in self.card.get("returns", {}).items():
            shown = "–" if found.get("mean") is None else f"{found['mean']:+.3f}"
            rows += f"<tr><td>{html.escape(str(name))}</td><td>{shown}</td></tr>"
        head = "<tr><th>test projection</th><th>return of a trial</th></tr>"
        table = f"<table>{head}{rows}</table>" if rows else ""
        return f"<p>{html.escape(repr(self))}</p>{table}"


def load_agent(source: str | Path) -> LoadedAgent:
    """Load an agent: a shipped one by its name, a run's newest, a file or folder."""
    path = find_shipped(source, _FOLDER, "agent", ".npz")
    if path.is_dir():
        is_hub = (path / WEIGHTS).is_file()
        return LoadedAgent(*read_hub(path)) if is_hub else _agent_of_run(path)
    settings, card = _texts(path)
    with named_by(path):
        config = config_from(parse_toml(settings, path))
    agent = load_tree(path, state_shapes(config)[-1].agent)
    check_weights(agent, path, card.get("sha256"))  # 0.2 wrote none
    return LoadedAgent(agent, config, card)


def export_agent(loaded: LoadedAgent, path: str | Path, card: _Card) -> Path:
    """Store weights, settings and card in one file, which `load_agent` reads."""
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"FILE must end in .npz, got {path}.")
    whole = {**card, "sha256": tree_digest(loaded.agent)}
    texts = {"config": to_toml(loaded.config), "card": json.dumps(whole)}
    save_tree(path, loaded.agent, texts)
    return path


def _agent_of_run(folder: Path) -> LoadedAgent:
    run = read_run(folder)
    likes = state_shapes(run.config)
    if run.check_finished():
        agent = load_tree(run.folder / "agent.npz", likes[-1].agent)
        check_weights(agent, run.folder / "agent.npz")
    elif run.has_checkpoint:
        agent = run.newest_state(*likes).agent
    else:
        raise ValueError(f"{folder} has no agent yet: its first update is not done.")
    return LoadedAgent(agent, run.config)


def _texts(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the settings and the card of an exported agent."""
    try:
        arrays = read_arrays(path)
        return str(arrays["config"]), dict(json.loads(str(arrays["card"])))
    except DAMAGED as error:
        text = f"{path} is not an exported agent, or damaged; see `freeproj export`."
        raise ValueError(text) from error
