"""Runs as Ray tasks, on a Ray cluster or on a Ray started on this machine.

A Ray started here listens on the loopback interface only, and asks for its token.

Every node must see the folder of the runs. Ray replaces a worker or node that dies, and
the run resumes from its checkpoint in the folder; its lock has vanished with the
process. The driver gets back the last row of each log.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import socket
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from freeproj.experiments.engines.events import (
    Event,
    Outcome,
    Report,
    cell_of,
    last_lines,
)
from freeproj.experiments.engines.worker import train_runs
from freeproj.experiments.run import read_run
from freeproj.experiments.settings import run_name, to_toml
from freeproj.learning.config import TrainConfig
from freeproj.storage.threads import SINGLE_THREAD

# Ray reads this when it is imported: workers get no environment of their own.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
import ray
from ray._private import ray_constants
from ray.exceptions import RayError

__all__ = ["run_ray"]

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Ray colours what it says
_POLL = 1.0  # seconds between two looks at a run that another process is writing
_LOOK = 2.0  # seconds between two looks at the logs


def run_ray(
    configs: Iterable[TrainConfig],
    out: str | Path,
    *,
    address: str | None = None,
    cpus: float | int = 1,
    gpus: float | int = 0,
    seeds_together: int = 1,
    max_retries: int = 5,
    report: Report | None = None,
) -> list[Outcome]:
    """Carry out runs as Ray tasks; return what came of each, in order.

    Args:
        address: of a running cluster, or `auto`; None starts Ray on this machine, for
            this machine. A Ray that this process has already started is used as it is.
            A cluster's token comes from RAY_AUTH_TOKEN or ~/.ray/auth_token.
        cpus: CPUs that each task asks for; with 1 a task has one thread.
        gpus: GPUs that each task asks for.
        seeds_together: how many seeds of the same settings a task trains at once.
        max_retries: how often Ray may replace a worker or node under one task.
    """
    configs = list(configs)
    mine = not ray.is_initialized()
    if mine:
        _connect(address)
    try:
        return _Tasks(configs, str(Path(out).resolve()), report).carry_out(
            seeds_together,
            num_cpus=cpus,
            num_gpus=gpus,
            max_retries=max_retries,
            runtime_env={"env_vars": dict(SINGLE_THREAD) if cpus <= 1 else {}},
        )
    finally:
        if mine:
            ray.shutdown()


def _connect(address: str | None) -> None:
    """Join the cluster at an address, or start a Ray that only this machine reaches."""
    _check_reachable(address)
    # Ray forks and at once executes another program, so JAX's warning does not apply.
    warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
    options: dict[str, Any] = {
        "include_dashboard": False,
        "log_to_driver": False,
        "logging_level": logging.ERROR,
    }
    try:
        if address is None:
            _keep_token_private()
            with _loopback_only():
                ray.init(address="local", **options)
        else:
            ray.init(address=address, **options)
    except Exception as error:  # Ray raises plain ones too, for instance on a timeout
        why = " ".join(_COLOUR.sub("", str(error)).split())
        if address is None:
            ray.shutdown()  # stop the parts that did start
            raise ValueError(
                f"Ray did not start on this machine: {why} Run the same command again, "
                "or leave out `--engine ray`."
            ) from error
        raise ValueError(
            f"Cannot join a Ray cluster at `--address` {address!r}: {why} Start "
            "one with `ray start --head`, give its token in RAY_AUTH_TOKEN, or leave "
            "the address out."
        ) from error


def _keep_token_private() -> None:
    """Keep other users from reading the token, which Ray writes readable by all."""
    folder = Path.home() / ".ray"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


@contextlib.contextmanager
def _loopback_only() -> Iterator[None]:
    """Let Ray bind to 127.0.0.1, as it does by default on macOS and Windows.

    Ray has no argument for it: it replaces 127.0.0.1 by an address others can reach.
    """
    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


def _check_reachable(address: str | None) -> None:
    """Refuse a HOST:PORT that does not answer: Ray itself would retry for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise ValueError(
            f"No Ray cluster at `--address` {address!r}: {error}. Start one with "
            "`ray start --head`, or leave the address out."
        ) from error


class _Tasks:
    """The tasks under way, and what came of those that ended."""

    def __init__(self, configs: list[TrainConfig], out: str, report: Report | None):
        self._configs, self._out = configs, out
        self._report = report or (lambda event: None)
        self._outcomes: dict[str, Outcome] = {}
        self._under_way: dict[Any, list[TrainConfig]] = {}
        self._failures: dict[str, int] = {}  # how far a run was when it last failed
        self._sizes: dict[str, int] = {}  # of the logs, as they were last seen

    def carry_out(self, seeds_together: int, **options: Any) -> list[Outcome]:
        task = ray.remote(**options)(_train)
        cells: dict[Any, list[TrainConfig]] = {}
        for config in self._configs:
            cells.setdefault(cell_of(config), []).append(config)
        for seeds in cells.values():
            for first in range(0, len(seeds), seeds_together):
                self._submit(task, seeds[first : first + seeds_together])
        try:
            while self._under_way:
                ended, _ = ray.wait(list(self._under_way), timeout=_LOOK)
                for reference in ended:
                    self._take(task, reference)
                self._look()
        except BaseException:
            for reference in self._under_way:
                ray.cancel(reference, force=True)
            raise
        return [self._outcomes[run_name(config)] for config in self._configs]

    def _submit(self, task: Any, runs: list[TrainConfig]) -> None:
        settings = [to_toml(config) for config in runs]
        reference = task.remote(settings, self._out, [*sys.path, os.getcwd()])
        self._under_way[reference] = runs

    def _look(self) -> None:
        """Report how far the runs are: the logs are in the shared folder."""
        for config in itertools.chain(*self._under_way.values()):
            log = Path(self._out) / run_name(config) / "log.jsonl"
            size = log.stat().st_size if log.exists() else 0
            if size != self._sizes.get(run_name(config), 0):
                self._sizes[run_name(config)] = size
                if rows := self._rows(config):
                    self._report(Event(config, "row", rows[-1]))

    def _rows(self, config: TrainConfig) -> list[dict[str, Any]]:
        """Return the log so far; a node may be repairing it at this moment."""
        with contextlib.suppress(ValueError, OSError):
            return read_run(Path(self._out) / run_name(config)).log()
        return []

    def _take(self, task: Any, reference: Any) -> None:
        """Take the results of a task; retry a failed run if it got further."""
        runs, failed = self._under_way.pop(reference), []
        try:
            answers: Any = ray.get(reference)
        except RayError as error:
            text = last_lines(_COLOUR.sub("", str(error)), 1)
            answers = [{"kind": "failed", "text": text} for _ in runs]
        for config, answer in zip(runs, answers, strict=True):
            if answer["kind"] == "done":
                self._outcomes[run_name(config)] = Outcome(config, answer["row"])
                self._report(Event(config, "done", answer["row"]))
            elif answer["kind"] == "diverged" or not self._has_advanced(config):
                self._give_up(config, last_lines(answer["text"]))
            else:
                self._report(Event(config, "retry", text=last_lines(answer["text"])))
                failed.append(config)
        if failed:
            self._submit(task, failed)

    def _has_advanced(self, config: TrainConfig) -> bool:
        """Whether a run that failed had got further than when it last failed."""
        n_done, before = len(self._rows(config)), self._failures.get(run_name(config))
        self._failures[run_name(config)] = n_done
        return before is None or n_done > before

    def _give_up(self, config: TrainConfig, text: str) -> None:
        self._outcomes[run_name(config)] = Outcome(config, None, text)
        self._report(Event(config, "failed", text=text))


def _train(settings: list[str], out: str, path: list[str]) -> list[dict[str, Any]]:
    """Carry out runs on some node; return a worker's answer for each.

    The node sees the modules that the driver sees, as far as it has their folders.
    """
    sys.path += [each for each in path if each and each not in sys.path]
    while True:
        answers = train_runs(settings, out, lambda **_row: None)
        # The worker that this one replaces may not have noticed that its node is gone.
        if not any(answer["kind"] == "locked" for answer in answers):
            return answers
        time.sleep(_POLL)
