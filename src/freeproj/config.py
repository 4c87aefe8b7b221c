"""What a training run is made of: frozen settings, the paper's values as defaults.

Settings are read from TOML and overridden one by one (`ppo.discount=0.95`). An unknown
key or a value that makes no sense is an error that says what is allowed. A run is named
by the hash of its settings. (Appendix D of the paper.)
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freeproj.envs import make
from freeproj.metaenv import MetaEnv, common_actions
from freeproj.projection import FreeProjection

__all__ = [
    "SHIPPED",
    "EvaluationConfig",
    "NetworkConfig",
    "PPOConfig",
    "TrainConfig",
    "config_from",
    "dotted",
    "read_config",
    "to_toml",
]

_CONFIGS = Path(__file__).parent / "configs"
SHIPPED = tuple(sorted(path.stem for path in _CONFIGS.glob("*.toml")))


def _check(condition: bool, name: str, rule: str, value: Any) -> None:
    if not condition:
        raise ValueError(f"`{name}` must {rule}, got {value!r}.")


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """Recurrent PPO."""

    n_epochs: int = 30
    n_minibatches: int = 8
    learning_rate: float = 5e-5
    learning_rate_schedule: str = (
        "constant"  # or linear: down to 0 with the last update
    )
    adam_epsilon: float = 1e-5
    max_grad_norm: float = 0.5
    discount: float = 0.99
    gae_lambda: float = 1.0
    clip: float = 0.2
    value_weight: float = 1.0
    entropy_weight: float = 0.0

    def __post_init__(self):
        for name in ("n_epochs", "n_minibatches"):
            _check(getattr(self, name) >= 1, name, "be at least 1", getattr(self, name))
        for name in ("learning_rate", "adam_epsilon", "max_grad_norm", "clip"):
            _check(getattr(self, name) > 0, name, "be positive", getattr(self, name))
        for name in ("discount", "gae_lambda"):
            value = getattr(self, name)
            _check(0 <= value <= 1, name, "lie in [0, 1]", value)
        for name in ("value_weight", "entropy_weight"):
            value = getattr(self, name)
            _check(value >= 0, name, "not be negative", value)
        schedule = self.learning_rate_schedule
        known = ("constant", "linear")
        _check(
            schedule in known, "learning_rate_schedule", f"be one of {known}", schedule
        )


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Widths of the agent; `n_layers` and `state_size` are S5's."""

    embedding_size: int = 128
    hidden_size: int = 256
    head_size: int = 128
    n_layers: int = 4
    state_size: int = 256

    def __post_init__(self):
        for name, value in dataclasses.asdict(self).items():
            _check(value >= 1, name, "be at least 1", value)


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig:
    """How a frozen agent is tested on what it was not trained on.

    Args:
        every: updates between two evaluations; 0 is never.
        map: the fixed map of observations.
        task: a task held out from training; empty: the training task, under a map that
            it was never trained on.
        n_steps: the window of the paper's way to count.
        episodes: play on until every environment has finished an episode.
    """

    every: int = 1
    map: str = "tile"
    task: str = ""
    n_envs: int = 64
    n_steps: int = 1024
    episodes: bool = True

    def __post_init__(self):
        _check(self.every >= 0, "evaluation.every", "not be negative", self.every)
        for name in ("n_envs", "n_steps"):
            value = getattr(self, name)
            _check(value >= 1, f"evaluation.{name}", "be at least 1", value)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One run: tasks, projection, agent, optimiser, evaluation, seed.

    Args:
        task: the task, or several that are trained together.
        redraw_every: collections between two draws of the base matrices; 0: never.
    """

    task: str | tuple[str, ...] = "StatelessCartPole"
    projection: FreeProjection = field(default_factory=lambda: FreeProjection(4, 4))
    memory: str = "gru"
    seed: int = 0
    n_updates: int = 228
    n_envs: int = 64
    n_steps: int = 1024
    n_trials: int = 16
    redraw_every: int = 1
    action_map: str = "identity"
    normalize_observations: bool = False
    previous_reward: bool = False
    ppo: PPOConfig = field(default_factory=PPOConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)

    def __post_init__(self):
        known = ("gru", "s5")
        _check(self.memory in known, "memory", f"be one of {known}", self.memory)
        for name in ("n_updates", "n_envs", "n_steps"):
            value = getattr(self, name)
            _check(value >= 1, name, "be at least 1", value)
        _check(
            self.redraw_every >= 0, "redraw_every", "not be negative", self.redraw_every
        )
        _check(self.seed >= 0, "seed", "not be negative", self.seed)
        if self.n_envs % self.ppo.n_minibatches:
            raise ValueError(
                f"`n_envs` must be a multiple of `ppo.n_minibatches` = "
                f"{self.ppo.n_minibatches}: a minibatch is made of whole environments; "
                f"got {self.n_envs}."
            )
        held_out = self.evaluation.task
        if held_out and make(held_out).name in {make(task).name for task in self.tasks}:
            raise ValueError(
                f"`evaluation.task` = {held_out!r} is trained on: it is not held out."
            )
        self.training_env()
        self.evaluation_env()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that are trained on."""
        return (self.task,) if isinstance(self.task, str) else tuple(self.task)

    @property
    def protocol(self) -> str:
        """What is held out: `projection`, or the whole `task`."""
        return "task" if self.evaluation.task else "projection"

    @property
    def digest(self) -> str:
        """The hash of all settings: equal for equal settings only."""
        return hashlib.sha256(to_toml(self).encode()).hexdigest()[:12]

    @property
    def run_name(self) -> str:
        """A folder name: what a person wants to know, and the hash."""
        tasks = "+".join(make(task).name for task in self.tasks)
        shape = f"n{self.projection.n_generators}-l{self.projection.length}"
        return f"{tasks}-{self.memory}-{shape}-s{self.seed}-{self.digest}"

    def training_env(self) -> MetaEnv:
        """The meta-environment with random words."""
        return self._env(self.tasks, self.action_map, None)

    def evaluation_env(self, task: str = "", map: str = "") -> MetaEnv:  # noqa: A002
        """The same with the fixed map, on the held-out task if there is one."""
        chosen = map or self.evaluation.map
        held_out = task or self.evaluation.task
        tasks = (held_out,) if held_out else self.tasks
        return self._env(tasks, "identity", None if chosen == "random" else chosen)

    def _env(
        self, tasks: tuple[str, ...], action_map: str, evaluation_map: str | None
    ) -> MetaEnv:
        met = (
            [*self.tasks, self.evaluation.task] if self.evaluation.task else self.tasks
        )
        return MetaEnv(
            tasks,
            self.projection,
            self.n_trials,
            action_map=action_map,
            evaluation_map=evaluation_map,
            normalize_observations=self.normalize_observations,
            previous_reward=self.previous_reward,
            n_actions=common_actions(met).size,
        )


def read_config(
    source: str | Path | None = None, settings: Mapping[str, Any] | None = None
) -> TrainConfig:
    """Reads a TOML file, or a shipped one by its name, and overrides `settings`."""
    return config_from(_read_toml(source) if source else {}, settings or {})


def config_from(
    values: Mapping[str, Any], settings: Mapping[str, Any] | None = None
) -> TrainConfig:
    """Builds settings from nested tables and from dotted keys that override them."""
    table = json.loads(json.dumps(values))  # a copy, of plain values only
    for key, value in (settings or {}).items():
        *path, last = key.split(".")
        inner = table
        for name in path:
            inner = inner.setdefault(name, {})
            if not isinstance(inner, dict):
                raise ValueError(f"`{key}`: `{name}` is a value, not a table.")
        inner[last] = value
    return _build(TrainConfig, table, "")


def dotted(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Writes nested tables with dotted keys: {"ppo": {"clip": 1}} as "ppo.clip"."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= dotted(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def to_toml(config: TrainConfig) -> str:
    """Writes all settings as TOML, such that `config_from` gives them back."""
    plain = dataclasses.asdict(config)
    tables = {key: value for key, value in plain.items() if isinstance(value, dict)}
    lines = [f"{key} = {_value(plain[key])}" for key in plain if key not in tables]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{k} = {_value(v)}" for k, v in table.items())]
    return "\n".join(lines) + "\n"


def _read_toml(source: str | Path) -> dict[str, Any]:
    path = _CONFIGS / f"{source}.toml" if str(source) in SHIPPED else Path(source)
    if not path.is_file():
        known = ", ".join(SHIPPED)
        raise FileNotFoundError(
            f"No file {path}, and none of the shipped ones ({known})."
        )
    try:
        return tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from error


def _build(cls: type, table: Mapping[str, Any], prefix: str) -> Any:
    """Makes a settings object from a table; refuses keys and types it does not have."""
    fields = {each.name: each for each in dataclasses.fields(cls)}
    allowed = [*fields, "n_words"] if cls is FreeProjection else list(fields)
    for key in table:
        if key not in allowed:
            raise ValueError(
                f"No setting `{prefix}{key}`. Known: "
                f"{', '.join(prefix + name for name in allowed)}."
            )
    if cls is FreeProjection:
        return _projection(table)
    values = {}
    for key, value in table.items():
        default = _default(fields[key])
        values[key] = _converted(value, default, prefix + key)
    return cls(**values)


def _projection(table: Mapping[str, Any]) -> FreeProjection:
    """Makes the projection; `n_words` stands for the generators at any length."""
    values = {"length": 4, **table}
    n_words = values.pop("n_words", None)
    for key, value in values.items():
        sample = {"scale": 1.0, "family": "", "inverses": False}.get(key, 0)
        values[key] = _converted(value, sample, f"projection.{key}")
    if n_words is None:
        return FreeProjection(**{"n_generators": 4, **values})
    if "n_generators" in values:
        raise ValueError(
            "Give `projection.n_words` or `projection.n_generators`, not both."
        )
    return FreeProjection.with_words(n_words, values.pop("length"), **values)


def _default(each: dataclasses.Field) -> Any:
    if each.default is not dataclasses.MISSING:
        return each.default
    assert each.default_factory is not dataclasses.MISSING
    return each.default_factory()


def _converted(value: Any, default: Any, key: str) -> Any:
    """Returns the value in the type of the default, where nothing is lost by it."""
    if dataclasses.is_dataclass(default):
        if isinstance(value, Mapping):
            return _build(type(default), value, f"{key}.")
    elif isinstance(default, bool) or isinstance(value, bool):
        if isinstance(value, bool) and isinstance(default, bool):
            return value
    elif isinstance(default, float) and isinstance(value, int | float):
        return float(value)
    elif key == "task" and isinstance(value, list) and value:
        return tuple(map(str, value))
    elif isinstance(value, type(default)):
        return value
    kind = "table" if dataclasses.is_dataclass(default) else type(default).__name__
    article = "an" if kind == "int" else "a"
    raise ValueError(f"`{key}` must be {article} {kind}, got {value!r}.")


def _value(value: Any) -> str:
    """Writes one TOML value; JSON's notation is TOML's for these types."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)
