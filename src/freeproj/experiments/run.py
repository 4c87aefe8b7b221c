"""A run on disk: written step by step, resumed after a crash, never overwritten.

It is a folder named by its settings, with `config.toml`, a line of `log.jsonl` for each
update, the state after the last one in `checkpoint`, and at the end `agent.npz` and
`final.json`, or `diverged.json`. `timing.jsonl` is apart: equal runs differ in it.

At most every four seconds the log is synced, then the state and its folder: a power cut
loses no more than that, or the update under way. In between the state is written
unsynced to `latest.npz`, which survives a killed process. Resuming takes the newest
state that is whole and whose updates are all in the log, and cuts off what the log has
beyond it. Nothing is pickled: arrays must fit the shapes that the settings imply.
"""

import contextlib
import json
import logging
import math
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
from jaxtyping import PyTree

from freeproj.experiments import log, settings
from freeproj.experiments.arrays import check_weights, load_tree, save_tree
from freeproj.experiments.records import check_whole
from freeproj.learning import train as training
from freeproj.learning.config import TrainConfig
from freeproj.learning.train import DivergedError, TrainState, seed_key
from freeproj.storage import files
from freeproj.storage.threads import n_threads
from freeproj.storage.toml import read_toml, write_toml

__all__ = ["SYNC_SECONDS", "LockedRunError", "Run", "begin_run", "open_run", "read_run"]
__all__ += ["run_folder", "run_training", "state_shapes"]

SYNC_SECONDS = 4.0  # syncing takes 50 ms or more: this keeps it below 2 % of the time

_LOGGER = logging.getLogger("freeproj")
_Report = Callable[[dict[str, Any]], None]


class LockedRunError(ValueError):
    """Another process is writing the run."""


class Run:
    """The folder of one run: it stands for files that change on disk."""

    def __init__(self, folder: Path, config: TrainConfig):
        self.folder, self.config = folder, config
        self._synced = -math.inf  # monotonic time of the last synced state
        self._log, self._timing = folder / "log.jsonl", folder / "timing.jsonl"
        self._checkpoint = folder / "checkpoint" / "state.npz"
        self._latest = folder / "checkpoint" / "latest.npz"

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {self.health})"

    @property
    def is_finished(self) -> bool:
        """Whether the run has finished."""
        return (self.folder / "final.json").exists()

    @property
    def health(self) -> str:
        """`running`, `finished`, `diverged` or `damaged`."""
        if self.damage():
            return "damaged"
        if (self.folder / "diverged.json").exists():
            return "diverged"
        return "finished" if self.is_finished else "running"

    def damage(self) -> str:
        """Return why the run's files cannot be trusted, or "" if they can."""
        try:
            check_whole(self.folder, self.config, log.read_lines(self._log))
        except files.DAMAGED as error:
            return str(error)
        return ""

    def check_finished(self) -> bool:
        """Whether the run has finished; one that is damaged is refused."""
        if self.is_finished and (why := self.damage()):
            way_out = "Restore its files, or move the folder away to train it again."
            raise ValueError(f"{self.folder} is damaged: {why.rstrip('.')}. {way_out}")
        return self.is_finished

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is a state to resume from."""
        return self._checkpoint.exists()

    def log(self) -> list[dict[str, Any]]:
        """Read the updates so far; a line torn by a crash is left out."""
        return [log.with_nans(row) for row in log.read_lines(self._log)]

    def resume(self, *likes: PyTree) -> tuple[PyTree, int]:
        """Return the state, in one of these shapes, and its update; cut the log."""
        state = self.newest_state(*likes)
        self.cut(n_done := int(state.n_done))
        return state, n_done

    def newest_state(self, *likes: PyTree) -> PyTree:
        """Return the newest state that is whole and whose updates are all logged."""
        states = [_load_state(self._checkpoint, likes)]
        with contextlib.suppress(ValueError):  # it may be missing or torn
            states.append(_load_state(self._latest, likes))
        for state in sorted(states, key=lambda each: -int(each.n_done)):
            n_done = int(state.n_done)
            with contextlib.suppress(ValueError):
                rows = log.read_lines(self._log, n_done)
                if [row.get("update") for row in rows] == list(range(1, n_done + 1)):
                    return state
        what = f"does not hold the {states[0].n_done} updates of the checkpoint"
        why = "it is damaged or was changed; start the run elsewhere"
        raise ValueError(f"{self._log} {what}: {why}.")

    def cut(self, n_done: int) -> None:
        """Drop what the log has beyond the updates that are safe in a checkpoint."""
        for path in (self._log, self._timing):
            text = "".join(f"{line}\n" for line in log.whole_lines(path, n_done))
            if path.exists() and path.read_bytes() != text.encode():
                files.write_text(path, text)
                said = "%s: cut lines beyond the checkpoint; resuming after update %d."
                _LOGGER.warning(said, path, n_done)

    def record(self, state: PyTree, row: dict[str, Any]) -> None:
        """Append an update to the log, then store the state behind it."""
        sync = time.monotonic() - self._synced >= SYNC_SECONDS
        files.append_synced(self._log, log.to_line(log.without_nans(row)), sync=sync)
        now = {"update": row["update"], "time": time.time()}
        files.append_synced(self._timing, log.to_line(now), sync=False)
        save_tree(self._checkpoint if sync else self._latest, state, sync=sync)
        if sync:
            self._synced = time.monotonic()

    def clear(self) -> None:
        """Delete temporary files that killed processes left; call it under the lock."""
        ends = (self.folder / f"{name}.json" for name in ("final", "diverged"))
        arrays = self.folder / "agent.npz", self._checkpoint, self._latest
        for path in (self._log, self._timing, *ends, *arrays):
            files.clear_temporaries(path)

    def finish(self, agent: PyTree) -> None:
        """Store the weights, and the last line of the log as the end of the run."""
        files.append_synced(self._log, b"")  # sync what is there
        save_tree(self.folder / "agent.npz", agent)
        last = json.dumps(log.without_nans(self.log()[-1]), indent=2)
        files.write_text(self.folder / "final.json", last + "\n")

    def mark_diverged(self, error: DivergedError) -> None:
        """Store why the run cannot go on; its last good checkpoint stays."""
        reason = f"the {error.quantity} is not finite at update {error.update}"
        found = {"update": error.update, "quantity": error.quantity, "reason": reason}
        files.write_text(self.folder / "diverged.json", json.dumps(found) + "\n")

    def divergence(self) -> DivergedError | None:
        """Return where the run diverged, None if it did not."""
        path = self.folder / "diverged.json"
        if not path.exists():
            return None
        try:
            found = json.loads(files.read_regular(path, 2**16))
            return DivergedError(int(found["update"]), str(found["quantity"]))
        except files.DAMAGED:
            text = f"{path} is damaged; delete it to try the run again."
            raise ValueError(text) from None

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Keep other processes out, for as long as this one lives."""
        text = f"{self.folder} is being written by another process. Wait for it."
        return files.locked(self.folder / "lock", LockedRunError(text))


def run_folder(out: str | Path, config: TrainConfig) -> Path:
    """Return the folder of these settings below `out`, or the finished one of 0.1."""
    old = settings.old_name(config)
    if old is not None and (Path(out) / old / "final.json").exists():
        return Path(out) / old
    return Path(out) / settings.run_name(config)


def open_run(out: str | Path, config: TrainConfig) -> Run:
    """Return the run of these settings below `out`; make its folder if need be."""
    folder = run_folder(out, config)
    stored = folder / "config.toml"
    if folder.name == settings.old_name(config):
        return Run(folder, config)  # its name is the hash of its settings
    if not stored.exists():
        files.write_text(stored, settings.to_toml(config) + _written_by())
    elif settings.unresolved_config(read_toml(stored)) != config:
        text = f"{folder} holds other settings than its name says; it is left alone."
        raise ValueError(f"{text} Choose another `--out`.")
    return Run(folder, config)


def read_run(folder: str | Path) -> Run:
    """Open the folder of a run that exists."""
    folder = Path(folder)
    if not (folder / "config.toml").is_file():
        raise FileNotFoundError(f"{folder} is not a run: it has no config.toml.")
    try:
        return Run(folder, settings.read_config(folder / "config.toml"))
    except ValueError as error:
        raise ValueError(f"{folder / 'config.toml'}: {error}") from error


def run_training(
    config: TrainConfig, out: str | Path = "runs", *, report: _Report | None = None
) -> Run:
    """Train in a folder below `out`: start or resume the run, or find it finished.

    `report` is called with each new row of the log, after it is safe on disk. A run
    that diverges is marked so and raises `DivergedError`, now and whenever it is asked
    for again: the same settings diverge at the same update.
    """
    run = open_run(out, config)
    with run.lock():
        if run.check_finished():
            return run
        state = begin_run(run)

        def record(state, row: dict[str, Any]) -> None:
            run.record(state, row)
            if report is not None:
                report(row)

        try:
            key = seed_key(config.seed)
            result = training.train(key, config, state=state, report=record)
        except DivergedError as error:
            run.mark_diverged(error)
            raise
        run.finish(result.agent)
    return run


def begin_run(run: Run) -> TrainState | None:
    """Return the state that a run resumes from, None at its start; needs its lock."""
    if (known := run.divergence()) is not None:
        raise known
    run.clear()
    if not run.has_checkpoint:
        run.cut(0)  # an update may be in the log whose checkpoint never came
        return None
    return run.resume(*state_shapes(run.config))[0]


def state_shapes(config: TrainConfig) -> list[PyTree]:
    """Return states that have shapes but no values, one for each stage of a run."""
    return [training.start_shapes(stage)[0] for stage in config.stage_configs]


def _load_state(path: Path, likes: Sequence[PyTree]) -> PyTree:
    """Read a state in the shapes of the stage that it was written in."""
    like, *others = likes
    try:
        state = load_tree(path, like)
        check_weights(getattr(state, "agent", ()), path)
        return state
    except ValueError:
        if not others:
            raise
        return _load_state(path, others)


def _written_by() -> str:
    """Say in TOML which versions write a run."""
    from freeproj import __version__

    python, threads = platform.python_version(), n_threads()
    values = {"freeproj": __version__, "schema": settings.SCHEMA}
    values |= {"jax": jax.__version__, "python": python, "threads": threads}
    return write_toml({"written_by": values})
