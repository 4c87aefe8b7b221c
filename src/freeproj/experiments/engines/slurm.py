"""Runs as SLURM jobs, submitted by submitit as arrays of limited size.

Every node must see the folder of the runs, and `slurm-logs` in it has the jobs' output.
A run stores its state after every update, so before its time limit a job has only to
put itself back into the queue, from where it resumes.
"""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import submitit
from submitit.core.utils import FailedJobError, UncompletedJobError

from freeproj.experiments.engines import Outcome, Report, last_lines
from freeproj.experiments.engines.remote import RemoteWork, train_elsewhere
from freeproj.experiments.settings import to_toml
from freeproj.learning.config import TrainConfig
from freeproj.storage.threads import SINGLE_THREAD

__all__ = ["run_slurm"]

_LOOK = 2.0  # seconds between two looks at the logs
_PATIENCE = 30.0  # seconds that a shared folder may take to show a job's result
_ARRAY_SIZE = 1000  # SLURM's own limit is 1001, unless its administrator says otherwise
_MAX_TIMEOUTS = 1000  # a run gets further each time, or it is given up
# Until submitit listens, which takes an import of JAX, the signal that announces the
# time limit would kill the job.
_IGNORING = """sh -c 'trap "" USR2; exec "$0" "$@"'"""
_OWN = {"time": 24 * 60, "mem_gb": 3, "job_name": "freeproj"}


def run_slurm(
    configs: Iterable[TrainConfig],
    out: str | Path,
    *,
    cpus: float | int = 1,
    gpus: float | int = 0,
    jobs: int | None = None,
    seeds_together: int = 1,
    options: Mapping[str, Any] | None = None,
    array_size: int = _ARRAY_SIZE,
    report: Report | None = None,
) -> list[Outcome]:
    """Carry out runs as SLURM jobs; return what came of each, in order.

    Args:
        cpus, gpus: of each job; with one CPU it has one thread.
        jobs: how many jobs of an array may run at the same time; None for all.
        seeds_together: how many seeds of the same settings a job trains at once.
        options: of submitit or sbatch, such as `time` (in minutes), `mem_gb`,
            `partition`, `account` or `signal_delay_s`, the seconds before the time
            limit at which a job stops.
        array_size: how many jobs are submitted as one array.
    """
    given: dict[str, Any] = {"gpus_per_node": int(gpus), "array_parallelism": jobs}
    if cpus <= 1:
        given["setup"] = [f"export {k}={v}" for k, v in SINGLE_THREAD.items()]
    wanted = {**_OWN, **(options or {}), "cpus_per_task": max(1, int(cpus))}
    wanted |= {key: value for key, value in given.items() if value}
    folder = Path(out).resolve()
    executor = _executor(folder / "slurm-logs", wanted)
    work = _Jobs(executor, array_size, list(configs), str(folder), report)
    return work.carry_out(seeds_together)


def _executor(logs: Path, wanted: dict[str, Any]) -> submitit.SlurmExecutor:
    """Return submitit's executor; what it does not know is passed to sbatch."""
    python = f"{_IGNORING} {shlex.quote(sys.executable)}"
    try:
        executor = submitit.SlurmExecutor(logs, _MAX_TIMEOUTS, python=python)
    except RuntimeError as error:
        raise ValueError(
            "`--engine slurm` needs SLURM's commands (srun, sbatch, squeue) on this "
            "machine: run it on a login node, or use --engine local."
        ) from error
    named = executor._equivalence_dict() or {}
    known = {*executor._valid_parameters(), *named}
    ours = {named.get(k, k): value for k, value in wanted.items() if k in known}
    rest = {key: value for key, value in wanted.items() if key not in known}
    if "mem" in ours and not isinstance(ours["mem"], str):
        ours["mem"] = f"{int(1024 * ours['mem'])}MB"
    executor.update_parameters(**ours, additional_parameters=rest)
    return executor


class _Runs:
    """The runs of one job, as submitit stores them and calls them on a node."""

    def __init__(self, configs: list[TrainConfig], out: str):
        self._settings = [to_toml(config) for config in configs]
        self._out, self._path = out, [*sys.path, os.getcwd()]

    def __call__(self) -> list[dict[str, Any]]:
        return train_elsewhere(self._settings, self._out, self._path)

    def checkpoint(self) -> submitit.helpers.DelayedSubmission:
        """Return what is to be queued before the time limit: the same again."""
        return submitit.helpers.DelayedSubmission(self)

    # submitit 1.5 looks for the first name and calls the second.
    __submitit_checkpoint__ = checkpoint


class _Jobs(RemoteWork):
    """The runs as jobs of SLURM."""

    def __init__(self, executor: submitit.SlurmExecutor, array_size: int, *work: Any):
        super().__init__(*work)
        self._executor, self._array_size = executor, array_size
        self._known: dict[Any, float] = {}  # when SLURM last knew a job

    def _begin(self, jobs: list[list[TrainConfig]]) -> list[Any]:
        calls = [_Runs(runs, self._out) for runs in jobs]
        handles = []
        try:
            for first in range(0, len(calls), self._array_size):
                array = calls[first : first + self._array_size]
                handles += self._executor.submit_array(array)
        except (FailedJobError, UncompletedJobError) as error:  # of sbatch itself
            for handle in handles:
                self._cancel(handle)
            why = last_lines(str(error), 1)
            raise ValueError(f"SLURM did not take the jobs: {why}") from error
        return handles

    def _wait(self, handles: list[Any]) -> list[Any]:
        time.sleep(_LOOK)
        command = ["squeue", "--me", "--noheader", "--array", "--format=%i"]
        squeue = subprocess.run(command, capture_output=True, text=True)
        queued, now, ended = {*squeue.stdout.split()}, time.monotonic(), []
        for handle in handles:
            if squeue.returncode or handle.job_id in queued:  # or it did not answer
                self._known[handle] = now
            lost = now - self._known.setdefault(handle, now) > _PATIENCE
            if lost or handle.paths.result_pickle.exists():
                ended.append(handle)
        return ended

    def _answers(self, handle: Any) -> list[dict[str, Any]] | str:
        if not handle.paths.result_pickle.exists():
            return f"SLURM lost job {handle.job_id}; see {handle.paths.stderr}."
        try:
            return handle.result()
        except (FailedJobError, UncompletedJobError) as error:
            return last_lines(str(error), 2)

    def _cancel(self, handle: Any) -> None:
        handle.cancel(check=False)
