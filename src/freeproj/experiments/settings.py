"""Settings as text: read from TOML, overridden one by one, written, hashed, named.

An unknown key or a value of the wrong type is an error that names the nearest key or
what is allowed. A run is named by a hash of what differs from the defaults, and of a
schema number: a new setting with a default leaves the names of all runs as they are.
Raise `SCHEMA` when a default or the meaning of a setting changes. `RENAMED` translates
keys of older versions, and `old_name` finds runs of 0.1.
"""

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax

from freeproj.envs import make
from freeproj.learning.config import TrainConfig, by_section
from freeproj.projection.words import count_words, generators_for
from freeproj.storage import names
from freeproj.storage.names import is_import_name, is_own_name, suggestion
from freeproj.storage.toml import read_toml, write_toml

__all__ = ["RENAMED", "SCHEMA", "SHIPPED", "config_from", "digest", "dotted"]
__all__ += ["find_shipped", "flat", "flat_settings", "old_name"]
__all__ += ["own_names", "plain_settings", "read_base", "read_config", "run_name"]
__all__ += ["shown_config", "to_toml", "typed", "unresolved_config"]

_CONFIGS = Path(__file__).parents[1] / "configs"
SHIPPED = tuple(sorted(path.stem for path in _CONFIGS.glob("*.toml")))
SCHEMA = 2  # 0.1 was 1
_MAX_NAME = 100  # characters of the tasks in a folder's name
_Table = Mapping[str, Any]

# Where an old key went, and how its value is written there. The `tile` of 0.1 had norm
# 1, as `tile_unit` has today.
RENAMED: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "evaluation.map": ("evaluation.maps", lambda x: ["tile_unit" if x == "tile" else x])
}

# Runs kept while 0.3 was written list these; at 0 they changed nothing.
_REMOVED = ("ppo.advantage_floor", "ppo.averaging")
# What 0.1 did where it had no setting for it.
_IN_0_1 = {"running_episodes": "rematch"}
# The settings of 0.1, in its order.
_KEYS_0_1 = {
    "": "task memory seed n_updates n_envs n_steps n_trials redraw_every action_map "
    "normalize_observations previous_reward",
    "projection": "n_generators length dim input_dim scale family inverses",
    "ppo": "n_epochs n_minibatches learning_rate learning_rate_schedule adam_epsilon "
    "max_grad_norm discount gae_lambda clip value_weight entropy_weight",
    "network": "embedding_size hidden_size head_size n_layers state_size",
    "evaluation": "every map task n_envs n_steps episodes",
}


def read_config(
    source: str | Path | None = None, settings: _Table | None = None
) -> TrainConfig:
    """Read a TOML file, or a shipped one by its name, and override `settings`."""
    tables = {} if source is None else read_base(source)
    given = [str(source)] * (source is not None) + ["--set"] * bool(settings)
    with names.named_by(" or ".join(given)):
        return config_from(tables, settings)


def config_from(values: _Table, settings: _Table | None = None) -> TrainConfig:
    """Build settings from nested tables and from dotted keys that override them."""
    return _built(plain_settings(values, settings), lambda kind, table: kind(**table))


def unresolved_config(values: _Table, settings: _Table | None = None) -> TrainConfig:
    """Return what `config_from` would, unchecked, importing nothing that it names."""
    with names.without_imports():
        return _built(plain_settings(values, settings), _unchecked)


def shown_config(values: _Table, settings: _Table | None = None) -> TrainConfig:
    """Return settings to show: checked, unless they name modules of a user."""
    config = unresolved_config(values, settings)
    return config if own_names(config) else config_from(values, settings)


def own_names(config: TrainConfig) -> list[str]:
    """Return the names in settings for which a user's module would be imported."""
    values = jax.tree.leaves(tuple(flat(config).values()))
    return [name for name in values if isinstance(name, str) and is_own_name(name)]


def flat(config: TrainConfig) -> dict[str, Any]:
    """Return all settings by their dotted keys, in the order of the dataclasses."""
    return dotted(dataclasses.asdict(config))


def flat_settings(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a `config.toml` says, with defaults and `projection.n_words`.

    No name in it is resolved; several tasks are joined by +.
    """
    settings = plain_settings(table if "written_by" in table else _IN_0_1 | dict(table))
    tasks = settings["task"]
    tasks = (tasks,) if isinstance(tasks, str) else tasks
    settings["task"] = "+".join(map(_task_name, tasks))
    keys = (f"projection.{name}" for name in ("n_generators", "length", "inverses"))
    *shape, inverses = (settings[key] for key in keys)
    settings["projection.n_words"] = count_words(*shape, inverses=inverses)
    return settings


def plain_settings(values: _Table, settings: _Table | None = None) -> dict[str, Any]:
    """Return the settings that `config_from` would give, by dotted keys, unchecked."""
    given = {key: value for key, value in values.items() if key != "written_by"}
    chosen = _checked(dotted(given) | dict(settings or {}))
    n_words = chosen.pop("projection.n_words", None)
    found = _defaults() | {"projection.input_dim": 0} | chosen
    if n_words is not None:
        if "projection.n_generators" in chosen:
            raise ValueError("Give `projection.n_words` or `.n_generators`, not both.")
        n_generators = generators_for(n_words, found["projection.length"])
        found["projection.n_generators"] = n_generators
    if not found["projection.input_dim"]:
        found["projection.input_dim"] = found["projection.dim"]
    return found


def dotted(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Write nested tables with dotted keys: {"ppo": {"clip": 1}} as "ppo.clip"."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            values |= dotted(value, f"{prefix}{key}.")
        else:
            values[prefix + key] = value
    return values


def to_toml(config: TrainConfig) -> str:
    """Write all settings as TOML, such that `config_from` gives them back."""
    return write_toml(dataclasses.asdict(config))


def digest(config: TrainConfig) -> str:
    """Return the hash of what differs from the defaults, and of the schema number."""
    known = _defaults()
    changes = {key: value for key, value in flat(config).items() if value != known[key]}
    return _hash(json.dumps([SCHEMA, changes], sort_keys=True))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def run_name(config: TrainConfig) -> str:
    """Return a folder name: what a person wants to know, and the hash."""
    return _name(config, digest(config))


def old_name(config: TrainConfig) -> str | None:
    """Return the folder name that 0.1 gave these settings, or None if it had none."""
    current = flat(config)
    first, *more = current.pop("evaluation.maps")
    current["evaluation.map"] = "tile" if first == "tile_unit" else first
    keys = [
        f"{section}.{name}".lstrip(".")
        for section, names in _KEYS_0_1.items()
        for name in names.split()
    ]
    old = by_section((key, current.pop(key)) for key in keys)
    if more or any(value != _defaults()[key] for key, value in current.items()):
        return None
    return _name(config, _hash(write_toml(old.pop("") | old)))


def read_base(source: str | Path) -> dict[str, Any]:
    """Read the tables of a TOML file, or of a shipped one by its name."""
    return read_toml(find_shipped(source, _CONFIGS, "config"))


def find_shipped(
    source: str | Path, folder: Path, kind: str, suffix: str = ".toml"
) -> Path:
    """Return the path of a file, or of a shipped one by its name."""
    known = sorted(path.stem for path in folder.glob(f"*{suffix}"))
    if str(source) in known:
        return folder / f"{source}{suffix}"
    if not Path(source).exists():
        text = f"{source}: no such file, and not a shipped {kind} ({', '.join(known)})."
        raise FileNotFoundError(f"{text}{suggestion(str(source), known)}")
    return Path(source)


@functools.cache
def _default_config() -> TrainConfig:
    return TrainConfig()


@functools.cache
def _defaults() -> dict[str, Any]:
    return flat(_default_config())


def _built(plain: _Table, make: Callable[[Any, Any], Any]) -> Any:
    """Make the sections of settings, each by `make(type, values)`, then the whole."""
    sections = by_section(plain.items())
    top = sections.pop("")
    for name, table in sections.items():
        try:
            top[name] = make(type(getattr(_default_config(), name)), table)
        except ValueError as error:  # which names the key without its section
            dotted_key = rf"`{name}.\g<1>`"
            said = re.sub(rf"`({'|'.join(table)})`", dotted_key, str(error))
            raise ValueError(said) from error
    return make(TrainConfig, top)


def _unchecked(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Make a frozen object from all of its fields, without its own checks."""
    made = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def _checked(settings: _Table) -> dict[str, Any]:
    """Return today's keys, and each value in the type of its default."""
    known, found = _defaults() | {"projection.n_words": 0}, {}
    sections = {key.partition(".")[0] for key in known if "." in key}
    for key, value in settings.items():
        if key in _REMOVED and value == 0:
            continue
        today, convert = RENAMED.get(key, (key, lambda same: same))
        if key in sections:
            raise ValueError(f"`{key}` must be a table, got {value!r}.")
        if today not in known:
            near = suggestion(key, known) or f" Known: {', '.join(known)}."
            raise ValueError(f"No setting `{key}`.{near}")
        found[today] = typed(today, convert(value))
    return found


def typed(key: str, value: Any) -> Any:
    """Return a value in the type of its default, or as it is if the key is unknown."""
    if key == "stages":
        if not isinstance(value, list | tuple):
            raise ValueError(f"`stages` must be a list of tables, got {value!r}.")
        tables = [_checked(dotted(dict(stage))) for stage in value]
        return tuple(tuple(sorted(table.items())) for table in tables)
    known = _defaults() | {"projection.n_words": 0}
    if key not in known:
        return value
    default = known[key]
    kind = "list of names" if isinstance(default, tuple) else type(default).__name__
    is_bool = isinstance(value, bool)
    if kind == "list of names" and isinstance(value, str):
        return (value,)
    if (kind == "list of names" or key == "task") and isinstance(value, list | tuple):
        if value and all(isinstance(each, str) for each in value):
            return tuple(value)
    elif isinstance(default, float) and type(value) is int and abs(value) <= 2**53:
        return float(value)
    elif isinstance(value, type(default)) and is_bool == (kind == "bool"):
        return value
    article = "an" if kind == "int" else "a"
    raise ValueError(f"`{key}` must be {article} {kind}, got {value!r}.")


def _task_name(name: str) -> str:
    """Return the usual name of a known task; any other name as it is."""
    plain = name.partition("(")[0]
    return name if is_import_name(plain) or "/" in plain else make(name).name


def _name(config: TrainConfig, hashed: str) -> str:
    tasks = "+".join(_short(_task_name(task)) for task in config.tasks)[:_MAX_NAME]
    shape = f"n{config.projection.n_generators}-l{config.projection.length}"
    memory = _short(config.memory)[:_MAX_NAME]
    return f"{tasks}-{memory}-{shape}-s{config.seed}-{hashed}"


def _short(name: str) -> str:
    """Return a part of a path that is safe everywhere; `a.b:Thing` is Thing."""
    return re.sub(r"[^\w+-]", "_", name.rpartition(":")[2], flags=re.ASCII)
