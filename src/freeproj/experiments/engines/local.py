"""This machine: one process per core, one XLA thread each.

Runs that differ in their seed only share compiled programs, so a worker is given them
in a row. A run that fails, or whose worker dies, is retried once in a new process,
where it resumes from its checkpoint; it is retried again only if it has got further. A
run that diverges would do so again: it is given up at once.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from freeproj.experiments.engines.costs import Cost
from freeproj.experiments.engines.events import (
    Event,
    Outcome,
    Report,
    cell_of,
    last_lines,
    programs_of,
)
from freeproj.experiments.engines.processes import WorkerProcess
from freeproj.experiments.settings import run_name, to_toml
from freeproj.learning.config import TrainConfig
from freeproj.storage.signals import take_stop
from freeproj.storage.threads import n_cores

__all__ = ["measure_costs", "run_local"]

_POLL = 1.0  # seconds between two looks at a run that another process is writing


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
    accelerator that is faster, on a CPU it is not.

    `report` is called from several threads, one at a time. On Ctrl-C the workers are
    ended and `KeyboardInterrupt` goes on; every update that was reported is on disk.
    """
    configs = list(configs)
    if jobs is not None and jobs < 1:
        raise ValueError(f"`jobs` must be at least 1, got {jobs}.")
    if seeds_together < 1:
        raise ValueError(f"`seeds_together` must be at least 1, got {seeds_together}.")
    n_workers = min(jobs or n_cores(), len(configs))
    if not configs:
        return []
    work = _Work(configs, str(out), report, seeds_together)
    with ThreadPoolExecutor(n_workers) as pool:
        threads = [pool.submit(work.carry_out) for _ in range(n_workers)]
        try:
            n_running = len(threads)
            while n_running:
                done, running = wait(threads, _POLL / 4, FIRST_EXCEPTION)
                for thread in done:
                    thread.result()
                take_stop()
                n_running = len(running)
        except BaseException:
            work.stop()
            raise
    return [work.outcomes[run_name(config)] for config in configs]


def measure_costs(configs: Sequence[TrainConfig]) -> list[Cost]:
    """Measure one short update of each of the settings, in a worker of its own."""
    worker = WorkerProcess()
    try:
        answers = [
            list(worker.ask(order="measure", config=to_toml(config)))[-1]
            for config in configs
        ]
    finally:
        worker.end()
    for answer in answers:
        if answer["kind"] != "done":
            raise ValueError(f"The measurement failed: {last_lines(answer['text'], 1)}")
    return [Cost(**answer["row"]) for answer in answers]


class _Work:
    """The runs that are waiting, under way and done; shared by the threads."""

    def __init__(
        self,
        configs: list[TrainConfig],
        out: str,
        report: Report | None,
        seeds_together: int,
    ):
        self.outcomes: dict[str, Outcome] = {}
        self._waiting = list(configs)
        self._not_before: dict[str, float] = {}  # when to look again at runs of others
        self._failures: dict[str, int] = {}
        self._under_way: dict[int, TrainConfig] = {}
        self._workers: dict[int, WorkerProcess] = {}
        self._out, self._report = out, report
        self._seeds_together = seeds_together
        self._lock = threading.RLock()
        self._stopped = False

    def carry_out(self) -> None:
        """Work until no run is left, with one process at a time."""
        me, last = threading.get_ident(), None
        try:
            while runs := self._take(me, last):
                last = runs[0]
                self._do(me, runs)
        finally:
            self._end_worker(me)

    def stop(self) -> None:
        """End all workers, and with them the threads that wait for their answers."""
        with self._lock:
            self._stopped = True
            for worker in self._workers.values():
                worker.kill()

    def _take(self, me: int, last: TrainConfig | None) -> list[TrainConfig]:
        """Return the next runs, once there are any; none when all are done."""
        while True:
            with self._lock:
                self._under_way.pop(me, None)
                if self._stopped or not self._waiting:
                    return []
                now = time.monotonic()
                free = [
                    config
                    for config in self._waiting
                    if self._not_before.get(run_name(config), 0.0) <= now
                ]
                if free:
                    chosen = self._choose(free, last)
                    self._under_way[me] = chosen
                    runs = self._with_seeds(chosen, free)
                    for config in runs:
                        self._waiting.remove(config)
                    return runs
            time.sleep(_POLL / 4)

    def _choose(self, free: list[TrainConfig], last: TrainConfig | None) -> TrainConfig:
        """Prefer a run this worker has compiled; otherwise one no other compiles."""
        mine = programs_of(last) if last else None
        others = {programs_of(config) for config in self._under_way.values()}
        same = (config for config in free if programs_of(config) == mine)
        new = (config for config in free if programs_of(config) not in others)
        return next(same, None) or next(new, None) or free[0]

    def _with_seeds(
        self, chosen: TrainConfig, free: list[TrainConfig]
    ) -> list[TrainConfig]:
        """Return a run with the others that are trained together with it."""
        if self._seeds_together == 1:
            return [chosen]
        cell = cell_of(chosen)
        others = (each for each in free if each != chosen and cell_of(each) == cell)
        return [chosen, *itertools.islice(others, self._seeds_together - 1)]

    def _do(self, me: int, runs: list[TrainConfig]) -> None:
        settings = [to_toml(config) for config in runs]
        for config in runs:
            if run_name(config) not in self._not_before:
                self._tell(Event(config, "started"))
        left, broken = dict(enumerate(runs)), False
        order = {"order": "train", "configs": settings, "out": self._out}
        for answer in self._worker(me).ask(**order):
            if answer["kind"] == "row":
                self._failures.pop(run_name(runs[answer["run"]]), None)  # got further
                self._tell(Event(runs[answer["run"]], "row", answer["row"]))
                continue
            # An answer without a run's number ends all runs that are left.
            for number in [answer["run"]] if "run" in answer else list(left):
                self._end_run(left.pop(number), answer)
            broken |= answer["kind"] in ("failed", "died")
        if broken:
            self._end_worker(me)  # what comes next gets a new process

    def _end_run(self, config: TrainConfig, answer: dict[str, Any]) -> None:
        kind = answer["kind"]
        if kind == "done":
            self._failures.pop(run_name(config), None)
            self._tell(Event(config, "done", answer["row"]))
            self.outcomes[run_name(config)] = Outcome(config, answer["row"])
        elif kind == "locked":
            self._wait_for(config)
        elif kind == "diverged":
            self._give_up(config, answer["text"])
        else:  # failed or died
            self._fail(config, last_lines(answer["text"]))

    def _wait_for(self, config: TrainConfig) -> None:
        with self._lock:
            if run_name(config) not in self._not_before:
                self._tell(Event(config, "elsewhere"))
            self._not_before[run_name(config)] = time.monotonic() + _POLL
            self._waiting.append(config)

    def _fail(self, config: TrainConfig, text: str) -> None:
        with self._lock:
            if self._stopped:
                return
            name = run_name(config)
            self._failures[name] = self._failures.get(name, 0) + 1
            if self._failures[name] == 1:
                self._waiting.insert(0, config)
                self._tell(Event(config, "retry", text=text))
            else:
                self._give_up(config, text)

    def _give_up(self, config: TrainConfig, text: str) -> None:
        self.outcomes[run_name(config)] = Outcome(config, None, text)
        self._tell(Event(config, "failed", text=text))

    def _tell(self, event: Event) -> None:
        with self._lock:
            if self._report is not None and not self._stopped:
                self._report(event)

    def _worker(self, me: int) -> WorkerProcess:
        with self._lock:
            if self._stopped:
                raise RuntimeError("The sweep was stopped.")  # ends this thread
            if me not in self._workers:
                self._workers[me] = WorkerProcess()
            return self._workers[me]

    def _end_worker(self, me: int) -> None:
        with self._lock:
            worker = self._workers.pop(me, None)
        if worker is not None:
            worker.end()
