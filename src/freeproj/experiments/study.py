"""A study, a TOML file: a grid of settings, and the runs that it stands for.

Its tables are `base` (shipped settings, a file or a table), `settings` (what differs
from them in every run), `grid` (the runs: every combination of its values), `exclude`
and `override` (of partial matches), and `stated`; docs/studies.md has examples. The
order of the runs is that of the file: the last key of the grid changes fastest.
"""

import collections
import dataclasses
import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freeproj.experiments import settings as texts
from freeproj.experiments.settings import config_from, dotted, run_name
from freeproj.learning.config import TrainConfig
from freeproj.storage.names import suggestion
from freeproj.storage.toml import read_toml

__all__ = ["STUDIES", "Grid", "read_study", "stated_before"]

_FOLDER = Path(__file__).parents[1] / "studies"
STUDIES = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))

# Short names for the keys that a study nearly always has.
_SHORT = {"tasks": "task", "memories": "memory", "seeds": "seed"}
_SHORT |= dict.fromkeys(("length", "lengths"), "projection.length")
_KEYS = ("base", "settings", "grid", "exclude", "override", "stated")
_STATED = ("question", "margin", "seeds", "looks")
_Flat = Mapping[str, Any]
_MAX_RUNS = 100_000


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A study as read from its file; all keys are dotted keys of `TrainConfig`.

    Args:
        exclude: partial matches of runs; a list matches any of its values.
        final: settings that come last, above every override.
    """

    base: str | Mapping[str, Any]
    grid: Mapping[str, Sequence[Any]]
    settings: _Flat = field(default_factory=dict)
    exclude: tuple[_Flat, ...] = ()
    override: tuple[tuple[_Flat, _Flat], ...] = ()
    final: _Flat = field(default_factory=dict)
    stated: Mapping[str, str | int] = field(default_factory=dict)

    def runs(self, *, resolve: bool = True) -> tuple[TrainConfig, ...]:
        """Return the settings of every run, in the order of the grid.

        Without `resolve` no module of a user is imported: to list runs only.
        """
        make = config_from if resolve else texts.shown_config
        runs = [
            make(self._tables, self._settings_of(cell))
            for cell in self._cells()
            if not any(self._matches(cell, match) for match in self.exclude)
        ]
        if not runs:
            raise ValueError("The study has no runs: its grid is empty or excluded.")
        ((name, count),) = collections.Counter(map(run_name, runs)).most_common(1)
        if count > 1:
            why = "two combinations of its grid give the same settings; leave one out"
            raise ValueError(f"The study has the run {name} twice: {why}.")
        return tuple(runs)

    def _cells(self) -> list[dict[str, Any]]:
        n_runs = math.prod(map(len, self.grid.values()))
        if n_runs > _MAX_RUNS:
            raise ValueError(f"A study has at most {_MAX_RUNS} runs, not {n_runs}.")
        values = itertools.product(*self.grid.values())
        return [dict(zip(self.grid, each, strict=True)) for each in values]

    def _settings_of(self, cell: _Flat) -> _Flat:
        changes = {**self.settings, **cell}
        for match, settings in self.override:
            if self._matches(cell, match):
                changes |= settings
        return {**changes, **self.final}

    def _matches(self, cell: _Flat, match: _Flat) -> bool:
        """Whether all keys of a partial match agree, before any override."""
        plain = texts.plain_settings(self._tables, {**self.settings, **cell})
        for key, wanted in match.items():
            if key not in plain:
                near = suggestion(key, plain) or f" Known: {', '.join(plain)}."
                raise ValueError(f"A match has no setting `{key}`.{near}")
            if plain[key] not in (wanted if isinstance(wanted, list) else [wanted]):
                return False
        return True

    @functools.cached_property
    def _tables(self) -> Mapping[str, Any]:
        return texts.read_base(self.base) if isinstance(self.base, str) else self.base


def read_study(source: str | Path, settings: _Flat | None = None) -> Grid:
    """Read a study, shipped by name or from a file, and override `settings`.

    A setting whose key stands in the grid (`seeds`, `tasks`, …) replaces its values;
    any other one holds in every run.
    """
    path = texts.find_shipped(source, _FOLDER, "study")
    table = read_toml(path)
    try:
        study = _study(table, path.parent)
        _check_matches(study)
    except (ValueError, FileNotFoundError) as error:
        raise ValueError(f"{path}: {error}") from error
    given = dict(settings or {})
    if isinstance(given.get("seed"), int):  # one of them; `seeds=3` counts them
        given["seed"] = [given["seed"]]
    final = _table(given, "settings")
    axes = {key: _axis(key, final.pop(key)) for key in study.grid if key in final}
    return dataclasses.replace(study, grid={**study.grid, **axes}, final=final)


def stated_before(name: str) -> dict[str, str | int]:
    """Return what a shipped study stated beforehand; nothing of any other name."""
    table = read_toml(_FOLDER / f"{name}.toml") if name in STUDIES else {}
    return _stated(table.get("stated", {}))


def _study(table: Mapping[str, Any], folder: Path) -> Grid:
    for key in table:
        if key not in _KEYS:
            raise ValueError(f"No key `{key}` in a study. Known: {', '.join(_KEYS)}.")
    base = table.get("base")
    if not isinstance(base, str | dict):
        raise ValueError(f"`base` must name settings or hold them, got {base!r}.")
    # A file is searched for beside the study, then in the working folder.
    if isinstance(base, str) and base not in texts.SHIPPED:
        base = str(folder / base) if (folder / base).is_file() else base
    grid, excluded = _table(table.get("grid"), "[grid]"), _tables(table, "exclude")
    return Grid(
        base=base,
        settings=_table(table.get("settings", {}), "settings"),
        grid={key: _axis(key, values) for key, values in grid.items()},
        exclude=tuple(_table(each, "[[exclude]]") for each in excluded),
        override=tuple(map(_override, _tables(table, "override"))),
        stated=_stated(table.get("stated", {})),
    )


def _stated(table: Any) -> dict[str, str | int]:
    fits = isinstance(table, dict) and set(table) in (set(), set(_STATED))
    if not fits or not all(isinstance(each, str | int) for each in table.values()):
        keys = ", ".join(_STATED)
        raise ValueError(f"[stated] must have {keys} (text, numbers), got {table!r}.")
    return {name: table[name] for name in _STATED if table}


def _override(table: Any) -> tuple[_Flat, _Flat]:
    if not isinstance(table, dict) or set(table) != {"match", "set"}:
        raise ValueError(f"[[override]] must have `match` and `set`, got {table!r}.")
    return _table(table["match"], "`match`"), _table(table["set"], "`set`")


def _check_matches(study: Grid) -> None:
    """Refuse a match that selects no run: it is almost certainly a typo."""
    cells, overrides = study._cells(), [match for match, _ in study.override]
    for name, matches in (("exclude", study.exclude), ("override", overrides)):
        for match in matches if cells else ():
            if not any(study._matches(cell, match) for cell in cells):
                raise ValueError(f"[[{name}]] matches no run of the grid: {match}.")


def _axis(key: str, values: Any) -> tuple[Any, ...]:
    """Return the values of one key; a number of seeds stands for 0, 1, …"""
    if key == "seed" and type(values) is int:
        if values > _MAX_RUNS:
            raise ValueError(f"`seeds` must be at most {_MAX_RUNS}, got {values}.")
        values = list(range(values))
    if isinstance(values, str | int | float):
        values = [values]
    if not isinstance(values, list | tuple) or not values:
        raise ValueError(f"`{key}` in the grid must list values, got {values!r}.")
    return tuple(values)


def _table(value: Any, name: str) -> dict[str, Any]:
    """Return a table with full dotted keys."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a table, got {value!r}.")
    keys = [_SHORT.get(key, key) for key in dotted(value)]
    ((key, count),) = collections.Counter(keys).most_common(1) or [("", 0)]
    if count > 1:
        raise ValueError(f"{name} has `{key}` twice, under two names.")
    return dict(zip(keys, dotted(value).values(), strict=True))


def _tables(table: Mapping[str, Any], key: str) -> list[Any]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"[[{key}]] must be an array of tables, got {value!r}.")
    return value
