"""A worker of the local engine: a process that carries out orders, one by one.

`WorkerProcess` is the worker as its driver sees it; `main` runs in the process. Orders
and answers are lines of JSON on standard input and output. An answer that is not a row
ends the run that it names; if it names none, it ends all runs of the order. The worker
ends as soon as its input does, so no worker outlives its driver, however that ended.
"""

import contextlib
import functools
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from freeproj.experiments.engines import last_lines
from freeproj.experiments.engines.costs import measure_cost
from freeproj.experiments.run import LockedRunError, Run
from freeproj.experiments.run_seeds import run_seeds
from freeproj.experiments.settings import config_from
from freeproj.learning.config import TrainConfig
from freeproj.learning.train import DivergedError
from freeproj.storage.threads import SINGLE_THREAD

__all__ = ["WorkerProcess", "main", "train_runs"]

# The worker sees the modules that the driver sees, installed or not.
_START = "import sys; sys.path[:] = {path!r}; from {name} import main; main()"


class WorkerProcess:
    """A Python process, by default with one XLA thread; a mutable object."""

    def __init__(self, env: Mapping[str, str] = SINGLE_THREAD):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        # A group of its own: Ctrl-C reaches the driver only, which then ends it.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path, name=__name__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **env},
            text=True,
            process_group=0,
        )

    def ask(self, **order: Any) -> Iterator[dict[str, Any]]:
        """Send an order; yield answers until all runs have ended, or the worker has."""
        n_left = len(order.get("configs", [""]))
        orders, answers = self._process.stdin, self._process.stdout
        assert orders is not None
        assert answers is not None
        try:
            orders.write(json.dumps(order) + "\n")
            orders.flush()
            for line in answers:
                answer = json.loads(line)
                yield answer
                if answer["kind"] != "row":
                    n_left -= 1 if "run" in answer else n_left
                if not n_left:
                    return
        except (BrokenPipeError, json.JSONDecodeError):
            pass  # the worker died while it wrote or read a line
        code = self._process.wait()
        self._errors.seek(0)
        printed = self._errors.read().decode(errors="replace")
        text = last_lines(f"{printed}\nThe worker ended with code {code}.")
        yield {"kind": "died", "text": text}

    def kill(self) -> None:
        """Stop the process now; what it was doing is safe up to its last update."""
        self._process.kill()

    def end(self) -> None:
        """Stop the process and clean up."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):  # of an order never read
                pipe.close()


def main() -> None:
    """Work until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print must not look like an answer
    orders: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()

    def tell(**values: Any) -> None:
        answers.write(json.dumps(values) + "\n")

    while True:
        order = json.loads(orders.get())
        try:
            if order["order"] == "measure":
                cost = measure_cost(config_from(tomllib.loads(order["config"])))
                tell(kind="done", row=cost._asdict())
                continue
            report = functools.partial(tell, kind="row")
            ends = train_runs(order["configs"], order["out"], report)
            for number, end in enumerate(ends):
                tell(run=number, **end)
        except Exception as error:
            tell(**_answer(error))


def _listen(orders: queue.Queue[str]) -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)  # the driver is gone, or has no more orders; the disk is safe anyway


def train_runs(
    settings: list[str], out: str, report: Callable[..., None]
) -> list[dict[str, Any]]:
    """Train seeds of the same settings; call `report(run=…, row=…)`; answer each."""
    configs = [config_from(tomllib.loads(text)) for text in settings]

    def record(config: TrainConfig, row: dict[str, Any]) -> None:
        report(run=configs.index(config), row=row)

    return [_answer(end) for end in run_seeds(configs, out, report=record)]


def _answer(end: Run | Exception) -> dict[str, Any]:
    if isinstance(end, Run):
        return {"kind": "done", "row": end.log()[-1]}
    if isinstance(end, DivergedError):
        return {"kind": "diverged", "text": str(end)}
    is_debugging = os.environ.get("FREEPROJ_DEBUG", "") not in ("", "0")
    lines = traceback.format_exception(end)
    only = traceback.format_exception_only(end)[-1:]
    text = "".join(lines if is_debugging else only).strip()
    is_locked = isinstance(end, LockedRunError)
    return {"kind": "locked" if is_locked else "failed", "text": text}
