"""Training as one writes it in a notebook: by the name of a preset.

    result = fp.train("laptop", seed=0, task="HigherLower")
    result.plot(); result.evaluate(maps=["tile", "random"]); result.save("mine.npz")

The settings, and for the same seed the agent, are those of `freeproj train`;
`fp.train(key, config)` calls `learning.train` as it is.
"""

import dataclasses
import html
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.dtypes import prng_key
from jaxtyping import PRNGKeyArray

from freeproj.agents import ActorCritic
from freeproj.envs import task_name
from freeproj.experiments.agents import LoadedAgent, export_agent, load_agent
from freeproj.experiments.hub import write_hub
from freeproj.experiments.measures import metric_of
from freeproj.experiments.progress import TrainProgress
from freeproj.experiments.run import run_training
from freeproj.experiments.settings import dotted, flat, read_config
from freeproj.findings.labels import number_text
from freeproj.learning import train as learning
from freeproj.learning.config import TrainConfig
from freeproj.learning.evaluate import Evaluation, evaluate
from freeproj.learning.train import TrainResult, TrainState, seed_key
from freeproj.storage.names import as_name

__all__ = ["Trained", "train"]


class Trained(TrainResult):
    """A trained agent, one row of numbers for each update, and what to do with them."""

    config: TrainConfig

    def __new__(cls, agent: ActorCritic, log: list, config: TrainConfig):
        made = super().__new__(cls, agent, log)
        made.config = config
        return made

    @property
    def loaded(self) -> LoadedAgent:
        """The agent with its settings, to play with: see `fp.load_agent`."""
        return LoadedAgent(self.agent, self.config)

    def evaluate(
        self, maps: str | Sequence[str] = (), task: str = "", seed: int = 0
    ) -> dict[str, Evaluation]:
        """Test the agent, by default on the maps of its settings."""
        key = seed_key(seed)
        return evaluate(key, self.agent, self.config, task=task, maps=maps)

    def save(self, path: str | Path, card: Mapping[str, Any] | None = None) -> Path:
        """Save as one file (.npz) or a folder of the Hub, for `fp.load_agent`."""
        given = {"task": list(self.config.tasks), **(card or {})}
        if Path(path).suffix:
            return export_agent(self.loaded, path, given)
        return write_hub(self.agent, self.config, path, given)

    def plot(self, metric: str = "") -> Any:
        """Return a figure of returns, or of a column of the log; needs matplotlib."""
        from freeproj.report.figures.panels import draw_log

        lines = {}
        for short, name in ({metric: metric} if metric else self._returns).items():
            rows = [row for row in self.log if name in row]
            if not rows:
                known = ", ".join(sorted({each for row in self.log for each in row}))
                raise ValueError(f"The log has no column {name!r}. Known: {known}.")
            updates = [row["update"] for row in rows]
            lines[short] = updates, [row[name] for row in rows]
        return draw_log(lines, metric or "return of an episode")

    def __repr__(self) -> str:
        config = self.config
        head = f"{'+'.join(config.tasks)}, {config.memory}, seed {config.seed}; "
        return super().__repr__().replace("TrainResult(", f"Trained({head}", 1)

    def _repr_html_(self) -> str:
        rows = ""
        for short, name in self._returns.items():
            number = number_text(self.log[-1].get(name, math.nan))
            rows += f"<tr><td>{html.escape(short)}</td><td>{number}</td></tr>"
        head = f"<tr><th>{len(self.log)} updates</th><th>return of an episode</th></tr>"
        return f"<p>{html.escape(repr(self))}</p><table>{head}{rows}</table>"

    @property
    def _returns(self) -> dict[str, str]:
        """The columns of the log with returns of whole episodes, by short names."""
        maps = {f"test {name}": metric_of(name) for name in self.config.test_maps}
        names = {"train": metric_of("train"), **maps}.items()
        return {k: name for k, name in names if any(name in row for row in self.log)}


def train(
    source: str | Path | TrainConfig | int | PRNGKeyArray = "laptop",
    config: str | Path | TrainConfig | None = None,
    *,
    seed: int | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    state: TrainState | None = None,
    report: Callable[[TrainState, dict[str, Any]], None] | None = None,
    **settings: Any,
) -> Trained:
    """Train an agent.

        train("laptop", seed=0, task="HigherLower")   # a preset, a TOML file, settings
        train(key, config)                            # a key or seed, and settings

    Args:
        source: a preset's name, a file or a `TrainConfig`; or a key or seed, then
            followed by one of these.
        seed: of the run; by default that of the settings.
        out: a folder in which the run is stored as it goes, and from which it resumes;
            by default nothing is stored.
        progress: show progress on standard error; by default if no key is given.
        state: resume from this state of the same run.
        report: called after each update with state and row of the log.
        **settings: override settings: `task="HigherLower"`, `ppo={"clip": 0.1}`.
    """
    key = None
    if not isinstance(source, str | Path | TrainConfig):
        key, seed = _key_and_seed(source, seed)
        source = TrainConfig() if config is None else config
    elif config is not None:
        raise TypeError(
            "`train` takes one config, after a key or a seed if there is one: "
            f"train(0, {str(config)!r})."
        )
    changes = dotted({name: _plain(name, value) for name, value in settings.items()})
    changes |= {} if seed is None else {"seed": seed}
    if isinstance(source, TrainConfig):
        chosen = read_config(None, flat(source) | changes) if changes else source
    else:
        chosen = read_config(source, changes)
    shows = progress if progress is not None else key is None
    key = seed_key(chosen.seed) if key is None else key
    with TrainProgress(chosen, 0, quiet=not shows) as bar:
        if out is not None:
            run = run_training(chosen, out, report=bar.show)
            return Trained(load_agent(run.folder).agent, run.log(), chosen)

        def tell(now: TrainState, row: dict[str, Any]) -> None:
            bar.show(row)
            if report is not None:
                report(now, row)

        found = learning.train(key, chosen, state=state, report=tell)
    return Trained(found.agent, found.log, chosen)


def _key_and_seed(given: Any, seed: int | None) -> tuple[Any, int | None]:
    """Return a key as it is, and an integer as the run's seed."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if seed is not None:
            raise TypeError(f"Two seeds were given, {given} and {seed}; give one.")
        return None, int(given)
    if isinstance(given, jax.Array) and jax.numpy.issubdtype(given.dtype, prng_key):
        return given, seed
    raise TypeError(
        "`train` takes the name of a preset, a TOML file, a TrainConfig, a seed or a "
        f"key from jax.random.key, got {type(given).__name__}."
    )


def _plain(name: str, value: Any) -> Any:
    """Return a setting as a file would say it: objects by their names."""
    if name == "task":
        several = isinstance(value, tuple | list)
        return [task_name(each) for each in value] if several else task_name(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return as_name(value) if callable(value) else value
