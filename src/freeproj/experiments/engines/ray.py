"""Runs as Ray tasks, on a Ray cluster or on a Ray started on this machine.

Every node must see the folder of the runs. Ray replaces a worker or node that dies, and
the run resumes from its checkpoint; its lock has vanished with the process.
"""

import contextlib
import logging
import os
import re
import socket
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from freeproj.experiments.engines import Outcome, Report, last_lines
from freeproj.experiments.engines.remote import RemoteWork, train_elsewhere
from freeproj.experiments.settings import to_toml
from freeproj.learning.config import TrainConfig
from freeproj.storage.threads import SINGLE_THREAD

# Ray reads this when it is imported: workers get no environment of their own.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
import ray
from ray._private import ray_constants
from ray.exceptions import RayError

__all__ = ["run_ray"]

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Ray colours what it says
_MAX_RETRIES = 5  # how often Ray may replace a worker or node under one task
_LOOK = 2.0  # seconds between two looks at the logs


def run_ray(
    configs: Iterable[TrainConfig],
    out: str | Path,
    *,
    address: str | None = None,
    cpus: float | int = 1,
    gpus: float | int = 0,
    seeds_together: int = 1,
    report: Report | None = None,
) -> list[Outcome]:
    """Carry out runs as Ray tasks; return what came of each, in order.

    Args:
        address: of a running cluster, or `auto`; None starts Ray on this machine, for
            this machine. A Ray that this process has already started is used as it is.
            A cluster's token comes from RAY_AUTH_TOKEN or ~/.ray/auth_token.
        cpus, gpus: of each task; with one CPU it has one thread.
        seeds_together: how many seeds of the same settings a task trains at once.
    """
    mine = not ray.is_initialized()
    if mine:
        _connect(address)
    try:
        needs: dict[str, Any] = {"num_cpus": cpus, "num_gpus": gpus}
        env = {"env_vars": dict(SINGLE_THREAD) if cpus <= 1 else {}}
        limits = {"max_retries": _MAX_RETRIES, "runtime_env": env}
        task = ray.remote(**needs, **limits)(train_elsewhere)
        tasks = _Tasks(task, list(configs), str(Path(out).resolve()), report)
        return tasks.carry_out(seeds_together)
    finally:
        if mine:
            ray.shutdown()


def _connect(address: str | None) -> None:
    """Join the cluster at an address, or start a Ray that only this machine reaches."""
    _check_reachable(address)
    # Ray forks and at once executes another program, so JAX's warning does not apply.
    warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
    if address is None:
        _keep_token_private()
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        with contextlib.nullcontext() if address else _loopback_only():
            ray.init(address=address or "local", include_dashboard=False, **quiet)
    except Exception as error:  # Ray raises plain ones too, for instance on a timeout
        why = " ".join(_COLOUR.sub("", str(error)).split())
        text = (
            f"Cannot join a Ray cluster at `--address` {address!r}: {why} Start one "
            "with `ray start --head`, give its token in RAY_AUTH_TOKEN, or omit it."
        )
        if address is None:
            ray.shutdown()  # stop the parts that did start
            way_out = "Run the same command again, or leave out `--engine ray`."
            text = f"Ray did not start on this machine: {why} {way_out}"
        raise ValueError(text) from error


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
    host, _, port = (address or "").rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        way_out = "Start one with `ray start --head`, or leave the address out."
        text = f"No Ray cluster at `--address` {address!r}: {error}. {way_out}"
        raise ValueError(text) from error


class _Tasks(RemoteWork):
    """The runs as tasks of Ray."""

    def __init__(self, task: Any, *work: Any):
        super().__init__(*work)
        self._task = task

    def _begin(self, jobs: list[list[TrainConfig]]) -> list[Any]:
        path = [*sys.path, os.getcwd()]
        settings = [[to_toml(config) for config in runs] for runs in jobs]
        return [self._task.remote(each, self._out, path) for each in settings]

    def _wait(self, handles: list[Any]) -> list[Any]:
        return ray.wait(handles, timeout=_LOOK)[0]

    def _answers(self, handle: Any) -> list[dict[str, Any]] | str:
        try:
            return ray.get(handle)
        except RayError as error:
            return last_lines(_COLOUR.sub("", str(error)), 1)

    def _cancel(self, handle: Any) -> None:
        ray.cancel(handle, force=True)
