"""This machine: one process per core, one XLA thread each.

Runs that differ in their seed only share compiled programs, so a worker is given them
in a row. A run that fails, or whose worker dies, is retried in a new process.
"""

import queue
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from freeproj.experiments.engines import Event, Outcome, Report, last_lines
from freeproj.experiments.engines.costs import Cost
from freeproj.experiments.engines.remote import RemoteWork
from freeproj.experiments.engines.worker import WorkerProcess
from freeproj.experiments.settings import run_name, to_toml
from freeproj.learning.config import TrainConfig
from freeproj.storage.checks import at_least
from freeproj.storage.threads import n_cores

__all__ = ["measure_costs", "run_local"]

_WAIT = 0.25  # seconds to wait for an answer, and then to look for signals


def run_local(
    configs: Iterable[TrainConfig],
    out: str | Path,
    *,
    jobs: int | None = None,
    seeds_together: int = 1,
    report: Report | None = None,
) -> list[Outcome]:
    """Carry out runs in `jobs` processes; return what came of each, in order.

    A process trains up to `seeds_together` seeds of the same settings at once: on an
    accelerator that is faster, on a CPU it is not. Ctrl-C ends the workers; every
    update that was reported is on disk.
    """
    configs = list(configs)
    at_least(1, jobs=1 if jobs is None else jobs, seeds_together=seeds_together)
    n_workers = min(jobs or n_cores(), len(configs))
    return _Orders(n_workers, configs, str(out), report).carry_out(seeds_together)


def measure_costs(configs: Sequence[TrainConfig]) -> list[Cost]:
    """Measure one short update of each of the settings, in a worker of its own."""
    worker = WorkerProcess()
    try:
        texts = map(to_toml, configs)
        answers = [list(worker.ask(order="measure", config=each))[-1] for each in texts]
    finally:
        worker.end()
    for answer in answers:
        if answer["kind"] != "done":
            raise ValueError(f"The measurement failed: {last_lines(answer['text'], 1)}")
    return [Cost(**answer["row"]) for answer in answers]


class _Job:
    """Runs that a worker trains together, and what it answered to each."""

    def __init__(self, runs: list[TrainConfig]):
        self.runs, self.program = runs, runs[0].program
        self.answers: dict[int, dict[str, Any]] = {}


class _Worker:
    """A process that is given jobs, one by one; it is replaced after a failure."""

    job: _Job | None = None
    program: TrainConfig | None = None  # of its last job: it is compiled
    _process: WorkerProcess | None = None
    _thread: threading.Thread | None = None

    def begin(self, job: _Job, out: str, said: queue.Queue) -> None:
        """Begin a job; it has ended when None is said."""
        self.job, self.program = job, job.program
        self._process = self._process or WorkerProcess()
        listen = (job, out, said)
        self._thread = threading.Thread(target=self._listen, args=listen, daemon=True)
        self._thread.start()

    def _listen(self, job: _Job, out: str, said: queue.Queue) -> None:
        assert self._process is not None
        kinds, settings = set(), [to_toml(config) for config in job.runs]
        for answer in self._process.ask(order="train", configs=settings, out=out):
            said.put((self, job, answer))
            kinds.add(answer["kind"])
        if kinds & {"failed", "died"}:
            self._process.end()
            self._process = None
        said.put((self, job, None))

    def stop(self) -> None:
        """End the process; what it was doing is safe up to its last update."""
        if (process := self._process) is not None:
            process.kill()
        if self._thread is not None:
            self._thread.join()
        if self._process is not None:
            self._process.end()


class _Orders(RemoteWork):
    """The runs as orders to processes of this machine."""

    def __init__(self, n_workers: int, *work: Any):
        super().__init__(*work)
        self._waiting: list[_Job] = []
        self._said: queue.Queue = queue.Queue()
        self._workers = [_Worker() for _ in range(n_workers)]

    def carry_out(self, seeds_together: int) -> list[Outcome]:
        try:
            return super().carry_out(seeds_together)
        finally:
            for worker in self._workers:
                worker.stop()

    def _begin(self, jobs: list[list[TrainConfig]]) -> list[_Job]:
        begun = [_Job(runs) for runs in jobs]
        self._waiting = begun + self._waiting
        return begun

    def _wait(self, handles: list[_Job]) -> list[_Job]:
        self._hand_out()
        try:
            worker, job, answer = self._said.get(timeout=_WAIT)
        except queue.Empty:
            return []
        if answer is None:
            worker.job = None
            return [job]
        if answer["kind"] == "row":
            config = job.runs[answer["run"]]
            self._failures.pop(run_name(config), None)  # it has got further
            self._report(Event(config, "row", answer["row"]))
            return []
        # An answer without a run's number ends all runs that are left.
        ended = [answer["run"]] if "run" in answer else range(len(job.runs))
        job.answers = dict.fromkeys(ended, answer) | job.answers
        return []

    def _hand_out(self) -> None:
        for worker in self._workers:
            if worker.job is None and (job := self._next(worker)) is not None:
                self._waiting.remove(job)
                worker.begin(job, self._out, self._said)
                for config in job.runs:
                    if run_name(config) not in self._elsewhere:
                        self._report(Event(config, "started"))

    def _next(self, worker: _Worker) -> _Job | None:
        """Prefer a run the worker has compiled; otherwise one no other compiles."""
        others = {each.job.program for each in self._workers if each.job}

        def rank(job: _Job) -> tuple[bool, bool]:
            return job.program != worker.program, job.program in others

        free = filter(self._may_begin, self._waiting)
        return min(free, key=rank, default=None)

    def _may_begin(self, job: _Job) -> bool:
        if not self._elsewhere:  # names of runs take time: do not ask for hundreds
            return True
        times = (self._elsewhere.get(run_name(config), 0.0) for config in job.runs)
        return max(times) <= time.monotonic()

    def _look(self) -> None:
        """Do nothing: the processes tell of every row."""

    def _answers(self, handle: _Job) -> list[dict[str, Any]]:
        return [answer for _, answer in sorted(handle.answers.items())]

    def _cancel(self, handle: _Job) -> None:
        """Do nothing: all processes end with `carry_out`."""
