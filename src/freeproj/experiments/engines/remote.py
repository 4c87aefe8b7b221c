"""What all engines share: jobs of the seeds of one cell, in a folder that all see.

The driver follows the logs in the folder, takes each job's answers, and submits a run
that failed again for as long as it gets further.
"""

import abc
import contextlib
import dataclasses
import itertools
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from freeproj.experiments.engines import Event, Outcome, Report, last_lines
from freeproj.experiments.engines.worker import train_runs
from freeproj.experiments.run import read_run
from freeproj.experiments.settings import run_name
from freeproj.learning.config import TrainConfig
from freeproj.storage.signals import take_stop

__all__ = ["Answer", "RemoteWork", "train_elsewhere"]

Answer = dict[str, Any]  # of a worker, to one run
_Runs = list[TrainConfig]
_POLL = 1.0  # seconds between two looks at a run that another process is writing


class RemoteWork(abc.ABC):
    """The jobs under way, and what came of those that ended; a mutable object."""

    def __init__(self, configs: list[TrainConfig], out: str, report: Report | None):
        self._configs, self._out = configs, out
        self._report = report or (lambda event: None)
        self._outcomes: dict[str, Outcome] = {}
        self._under_way: dict[Any, _Runs] = {}
        self._elsewhere: dict[str, float] = {}  # when to try runs of other processes
        self._failures: dict[str, int] = {}  # how far a run was when it last failed
        self._sizes: dict[str, int] = {}  # of the logs, as they were last seen

    @abc.abstractmethod
    def _begin(self, jobs: list[_Runs]) -> list[Any]:
        """Submit jobs of one or several runs each; return a handle for each."""

    @abc.abstractmethod
    def _wait(self, handles: list[Any]) -> Iterable[Any]:
        """Wait a little; return the handles of the jobs that have ended."""

    @abc.abstractmethod
    def _answers(self, handle: Any) -> list[Answer] | str:
        """Return a worker's answer for each run of a job, or why there is none."""

    @abc.abstractmethod
    def _cancel(self, handle: Any) -> None:
        """Stop a job now."""

    def carry_out(self, seeds_together: int) -> list[Outcome]:
        """Carry out all runs; return what came of each, in order."""
        cells: dict[TrainConfig, _Runs] = {}
        for config in self._configs:
            cells.setdefault(dataclasses.replace(config, seed=0), []).append(config)
        jobs = []
        for seeds in cells.values():
            starts = range(0, len(seeds), seeds_together)
            jobs += [seeds[first : first + seeds_together] for first in starts]
        self._submit(jobs)
        try:
            while self._under_way:
                take_stop()
                ended = list(self._wait(list(self._under_way)))
                self._submit([runs for each in ended if (runs := self._take(each))])
                self._look()
        except BaseException:
            for handle in self._under_way:
                self._cancel(handle)
            raise
        return [self._outcomes[run_name(config)] for config in self._configs]

    def _submit(self, jobs: list[_Runs]) -> None:
        if jobs:
            self._under_way |= zip(self._begin(jobs), jobs, strict=True)

    def _look(self) -> None:
        """Report how far the runs are: the logs are in the shared folder."""
        for config in itertools.chain(*self._under_way.values()):
            log = Path(self._out) / (name := run_name(config)) / "log.jsonl"
            size = log.stat().st_size if log.exists() else 0
            if size != self._sizes.get(name, 0) and (rows := self._rows(config)):
                self._sizes[name] = size
                self._report(Event(config, "row", rows[-1]))

    def _rows(self, config: TrainConfig) -> list[dict[str, Any]]:
        """Return the log so far; a node may be repairing it at this moment."""
        with contextlib.suppress(ValueError, OSError):
            return read_run(Path(self._out) / run_name(config)).log()
        return []

    def _take(self, handle: Any) -> _Runs:
        """Take the answers of a job; return the runs that are to be tried again."""
        runs, again = self._under_way.pop(handle), []
        answers: Any = self._answers(handle)
        if isinstance(answers, str):
            answers = [{"kind": "failed", "text": answers}] * len(runs)
        for config, answer in zip(runs, answers, strict=True):
            name, kind = run_name(config), answer["kind"]
            done = kind == "done"
            row = answer["row"] if done else None
            text = "" if done else last_lines(answer["text"])
            if kind == "locked":
                if name not in self._elsewhere:
                    self._report(Event(config, "elsewhere"))
                self._elsewhere[name] = time.monotonic() + _POLL
                again.append(config)
            elif done or kind == "diverged" or not self._has_advanced(config):
                self._outcomes[name] = Outcome(config, row, text)
                self._report(Event(config, "done" if done else "failed", row, text))
            else:
                self._report(Event(config, "retry", text=text))
                again.append(config)
        return again

    def _has_advanced(self, config: TrainConfig) -> bool:
        """Whether a run that failed had got further than when it last failed."""
        n_done, before = len(self._rows(config)), self._failures.get(run_name(config))
        self._failures[run_name(config)] = n_done
        return before is None or n_done > before


def train_elsewhere(settings: list[str], out: str, path: list[str]) -> list[Answer]:
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
