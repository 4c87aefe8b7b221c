"""Settings of a training run: frozen, with the paper's values as defaults.

An invalid value raises an error that says what is allowed. `experiments.settings`
reads, writes and hashes settings. (Appendix D of the paper.)
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from freeproj.agents import MEMORIES
from freeproj.envs import Environment, make, task_name
from freeproj.meta.episodes import MetaEnv
from freeproj.projection.actions import CommonActions
from freeproj.projection.maps import MAPS
from freeproj.projection.projection import FreeProjection
from freeproj.storage.checks import one_of, within
from freeproj.storage.names import as_name

__all__ = ["EvaluationConfig", "NetworkConfig", "PPOConfig", "Stage", "TrainConfig"]
__all__ += ["by_section"]

_MOST = 2**31 - 1  # JAX counts in 32 bits
_COUNT, _COUNT_OR_0 = f"[1, {_MOST}]", f"[0, {_MOST}]"
_MOST_TRIALS = 2**16  # an evaluation keeps the return of every trial
_Task = str | Environment | Callable[..., Environment]
Stage = tuple[tuple[str, Any], ...]  # dotted settings and their values, sorted
# What the agent is made of cannot change on the way.
_FIXED = ("seed", "memory", "network", "encoder", "stages")
# Settings that the meta-environment takes.
_OF_ENV = ("encoder", "frame_threshold", "normalize_observations", "previous_reward")
_OF_ENV += ("n_trials", "trials", "observation")


def _check(condition: bool, name: str, rule: str, value: Any) -> None:
    if not condition:
        raise ValueError(f"`{name}` must {rule}, got {value!r}.")


def _check_range(config: Any, interval: str, names: str, section: str = "") -> None:
    """Refuse values outside an interval such as "[0, 1)"."""
    for name in names.split():
        within(interval, **{f"{section}{name}": getattr(config, name)})


def _check_sizes(config: Any, section: str = "") -> None:
    _check_range(config, _COUNT, "n_envs n_steps", section)
    steps = config.n_envs * config.n_steps
    name = f"{section}n_envs` · `{section}n_steps"
    _check(steps <= _MOST, name, "be below 2^31", steps)


def by_section(settings: Iterable[tuple[str, Any]]) -> dict[str, dict[str, Any]]:
    """Group dotted settings: {"": {"seed": 0}, "ppo": {"clip": 0.2}}."""
    sections: dict[str, dict[str, Any]] = {"": {}}
    for key, value in settings:
        section, _, name = key.rpartition(".")
        sections.setdefault(section, {})[name] = value
    return sections


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """Recurrent PPO; a `linear` learning rate is 0 after the last update."""

    n_epochs: int = 30
    n_minibatches: int = 8
    learning_rate: float = 5e-5
    learning_rate_schedule: str = "constant"
    adam_epsilon: float = 1e-5
    max_grad_norm: float = 0.5
    discount: float = 0.99
    gae_lambda: float = 1.0
    clip: float = 0.2
    value_weight: float = 1.0
    entropy_weight: float = 0.0

    def __post_init__(self):
        _check_range(self, _COUNT, "n_epochs n_minibatches")
        _check_range(self, "(0, ∞]", "max_grad_norm clip")  # ∞: no clipping
        _check_range(self, "(0, ∞)", "learning_rate adam_epsilon")
        _check_range(self, "[0, 1]", "discount gae_lambda")
        _check_range(self, "[0, ∞)", "value_weight entropy_weight")
        schedule = self.learning_rate_schedule
        one_of(("constant", "linear"), learning_rate_schedule=schedule)


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Widths of the agent's layers, and further settings of its memory.

    Args:
        n_layers: number of layers of S5, minGRU and the transformer.
        state_size: size of the state of each S5 layer.
        window: how many steps the transformer sees.
        clip_eigenvalues: keep the states of S5 from growing.
    """

    embedding_size: int = 128
    hidden_size: int = 256
    head_size: int = 128
    n_layers: int = 4
    state_size: int = 256
    window: int = 64
    clip_eigenvalues: bool = False

    def __post_init__(self):
        _check_range(self, _COUNT, "embedding_size hidden_size head_size")
        _check_range(self, _COUNT, "n_layers state_size window")


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig:
    """How a frozen agent is tested on what it was not trained on.

    Args:
        every: updates between two evaluations; 0: never.
        maps: test projections, see `projection.maps`; `zero` (a blanked observation)
            is always played as well.
        action_map: `identity`, or `random` to test under relabelled actions too.
        task: a task held out from training; empty: the training task, under a
            projection that it was never trained on.
        n_trials: trials of a test's episodes; 0: as many as in training.
        n_steps: length of the window in which the paper counts episodes.
        episodes: play on until every environment has finished an episode.
    """

    every: int = 1
    maps: tuple[str, ...] = ("tile",)
    action_map: str = "identity"
    task: str = ""
    n_trials: int = 0
    n_envs: int = 64
    n_steps: int = 1024
    episodes: bool = True

    def __post_init__(self):
        _check_range(self, _COUNT_OR_0, "every", "evaluation.")
        _check_range(self, f"[0, {_MOST_TRIALS}]", "n_trials", "evaluation.")
        several = isinstance(self.maps, tuple | list)
        maps = tuple(map(as_name, self.maps if several else (self.maps,)))
        object.__setattr__(self, "maps", maps)
        once = 0 < len(maps) == len(set(maps))
        _check(once, "evaluation.maps", "name at least one map, each once", maps)
        for name in maps:
            MAPS.resolve(name)
        _check_sizes(self, "evaluation.")


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One run: tasks, projection, agent, optimiser, evaluation, seed.

    Args:
        task: one task, or several that are trained together; each by its name, or as
            an object, which is stored under its `module:attribute`.
        redraw_every: rollouts between two draws of the base matrices; 0: never.
        running_episodes: what a redraw does to an unfinished episode: it keeps its
            matrix to the end (`keep`, Algorithm 1), sees its word through the new
            bases (`rematch`), or begins anew (`restart`).
        trials: every trial of an episode starts from the same state (`same_start`, the
            paper's) or from a new one under the same word (`fresh_start`).
        observation: `projected`; `none` for an agent trained blind; `plain` for an
            agent that always sees the padded observation itself.
        encoder: `none`: the agent sees what is projected. `frame`: it sees coordinates
            that no projection changes, see `frames`.
        frame_size: directions that a frame keeps; 0: as many as the largest observation
            has entries.
        frame_threshold: the norm that a direction must have, as the agent sees it, to
            be kept as new.
        action_map: `identity`; `random`, relabelled in every episode; `by_use`, named
            in the order in which the agent uses them, which no relabelling changes.
        stages: a curriculum. Each stage is a table of settings that differ, with its
            own `n_updates`; the agent goes on from one to the next. The updates that
            are left of the run's `n_updates` are played under the run's own settings.
    """

    task: _Task | tuple[_Task, ...] = "StatelessCartPole"
    projection: FreeProjection = field(default_factory=lambda: FreeProjection(4, 4))
    memory: str = "gru"
    seed: int = 0
    n_updates: int = 228
    n_envs: int = 64
    n_steps: int = 1024
    n_trials: int = 16
    redraw_every: int = 1
    running_episodes: str = "keep"
    trials: str = "same_start"
    observation: str = "projected"
    encoder: str = "none"
    frame_size: int = 0
    frame_threshold: float = 0.0
    action_map: str = "identity"
    normalize_observations: bool = False
    previous_reward: bool = False
    ppo: PPOConfig = field(default_factory=PPOConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    stages: tuple[Stage, ...] = ()

    def __post_init__(self):
        single = not isinstance(self.task, tuple | list)
        tasks: Any = (self.task,) if single else self.task
        names = tuple(map(task_name, tasks))
        object.__setattr__(self, "task", names[0] if single else names)
        object.__setattr__(self, "memory", as_name(self.memory))
        MEMORIES.resolve(self.memory)
        _check_range(self, _COUNT, "n_updates")
        _check_sizes(self)
        _check_range(self, f"[1, {_MOST_TRIALS}]", "n_trials")
        _check_range(self, _COUNT_OR_0, "redraw_every frame_size")
        _check_range(self, "[0, ∞)", "frame_threshold")
        _check(0 <= self.seed < 2**64, "seed", "lie in [0, 2^64)", self.seed)
        known = ("keep", "rematch", "restart")
        one_of(known, running_episodes=self.running_episodes)
        if self.encoder == "frame":
            rule = "leave a frame its projection to the episode's end (keep, restart)"
            lasts = self.running_episodes != "rematch"
            _check(lasts, "running_episodes", rule, self.running_episodes)
        parts = self.ppo.n_minibatches  # of whole environments
        rule = f"be a multiple of `ppo.n_minibatches` = {parts}"
        _check(self.n_envs % parts == 0, "n_envs", rule, self.n_envs)
        if held_out := self.evaluation.task:
            is_new = make(held_out).name not in {make(task).name for task in self.tasks}
            rule = "name another task (a training task is not held out)"
            _check(is_new, "evaluation.task", rule, held_out)
        self.training_env()
        self.evaluation_env()
        if self.stages:
            self._check_stages()

    def _check_stages(self) -> None:
        for stage in self.stages:
            keys = [key for key, _ in stage if key.partition(".")[0] in _FIXED]
            _check(not keys, "stages", "leave the agent as it is", ", ".join(keys))
            settings = dict(stage)
            _check("n_updates" in settings, "stages", "have `n_updates`", settings)
        left = self.n_updates - sum(dict(stage)["n_updates"] for stage in self.stages)
        rule = "leave at least one, after those of all stages, for the run's settings"
        _check(left >= 1, "n_updates", rule, self.n_updates)
        envs = [stage.training_env() for stage in self.stage_configs]
        sizes = {(env.input_size, env.action_space) for env in envs}
        _check(len(sizes) == 1, "stages", "show and take what the run does", sizes)

    def _staged(self, stage: Stage) -> TrainConfig:
        """Return the settings of a stage, as of a run of its own."""
        sections = by_section(stage)
        changed = sections.pop("") | {"stages": ()}
        for name, values in sections.items():
            changed[name] = dataclasses.replace(getattr(self, name), **values)
        return dataclasses.replace(self, **changed)

    @functools.cached_property
    def stage_configs(self) -> tuple[TrainConfig, ...]:
        """The settings of each stage as of a run of its own; the last are the run's."""
        before = [self._staged(stage) for stage in self.stages]
        left = self.n_updates - sum(stage.n_updates for stage in before)
        return (*before, dataclasses.replace(self, stages=(), n_updates=left))

    def stage_of(self, number: int) -> int:
        """Return the stage in which an update, counted from 1, takes place."""
        ends = itertools.accumulate(each.n_updates for each in self.stage_configs)
        return sum(end < number for end in ends)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that are trained on."""
        named: Any = self.task
        return named if isinstance(named, tuple) else (named,)

    @property
    def n_tested_trials(self) -> int:
        """Trials of a test's episodes: as many as in training unless said otherwise."""
        return self.evaluation.n_trials or self.n_trials

    @property
    def test_maps(self) -> tuple[str, ...]:
        """The projections that an evaluation plays: the chosen ones, and `zero`."""
        without = {"none": (), "plain": ("pad",)}  # a projection
        maps = without.get(self.observation, self.evaluation.maps)
        return maps if "zero" in maps else (*maps, "zero")

    @property
    def program(self) -> TrainConfig:
        """The settings that compiled programs depend on; equal ones share programs.

        Matrices and maps are data: length, family and seed do not matter.
        """
        law, has_table = self.projection, self.training_env().has_table
        if has_table:
            law = FreeProjection(law.n_words, 1, law.dim, law.input_dim)
        scheduled = self.ppo.learning_rate_schedule != "constant"
        return dataclasses.replace(
            self,
            seed=0,
            stages=(),
            projection=law,
            n_updates=self.n_updates if scheduled else 1,
            redraw_every=1 if self.running_episodes == "keep" else self.redraw_every,
            observation="projected" if has_table else self.observation,
            evaluation=dataclasses.replace(self.evaluation, maps=("tile",), every=1),
        )

    def training_env(self) -> MetaEnv:
        """The meta-environment with random words."""
        return self._env(self.tasks, self.action_map)

    def evaluation_env(self, task: str = "", evaluation_map: str = "") -> MetaEnv:
        """The meta-environment of the tests, on the held-out task if there is one.

        With a fixed map all episodes are played under it. Otherwise they are played
        under words, until `evaluate.map_table` gives the environments their maps.
        """
        held_out = task or self.evaluation.task
        tasks = (held_out,) if held_out else self.tasks
        fixed = None if evaluation_map in ("", "random") else evaluation_map
        actions = self.evaluation.action_map
        if self.action_map == "by_use":  # in tests too: no map changes such names
            actions = "by_use"
        length = {"n_trials": self.n_tested_trials, "keep_words": True}
        return self._env(tasks, actions, evaluation_map=fixed, **length)

    def _env(self, tasks: tuple[str, ...], action_map: str, **more: Any) -> MetaEnv:
        held_out = self.evaluation.task
        met = [make(task) for task in (*self.tasks, held_out) if task]
        widest = max(task.observation_space.size for task in met)
        actions = CommonActions(tuple(task.action_space for task in met))
        return MetaEnv(
            tasks,
            self.projection,
            action_map=action_map,
            frame_size=self.frame_size or widest,
            n_actions=actions.size,
            **{name: getattr(self, name) for name in _OF_ENV} | more,
        )
