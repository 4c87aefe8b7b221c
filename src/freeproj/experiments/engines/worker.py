"""A worker of the local engine: a process that does one order after the other.

An order is a line of JSON on standard input, an answer a line of JSON on standard
output; everything that libraries print goes to standard error. The worker ends as soon
as its input does, so that no worker outlives its driver, however that ended.
"""

from __future__ import annotations

import functools
import json
import os
import queue
import sys
import threading
import tomllib
import traceback
from collections.abc import Mapping
from typing import IO, Any

__all__ = ["SINGLE_THREAD", "main"]

# One thread for each process: to be set before JAX starts.
SINGLE_THREAD: Mapping[str, str] = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def main() -> None:
    """Work until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print must not look like an answer
    orders: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    while True:
        order = json.loads(orders.get())
        try:
            _ORDERS[order["order"]](order, answers)
        except Exception as error:
            kind = _kind_of(error)
            text = str(error) if kind == "diverged" else traceback.format_exc()
            _answer(answers, kind=kind, text=text)


def _listen(orders: queue.Queue[str]) -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)  # the driver is gone, or has no more orders; the disk is safe anyway


def _train(order: dict[str, Any], answers: IO[str]) -> None:
    from freeproj.experiments.run import run_training
    from freeproj.experiments.settings import config_from

    config = config_from(tomllib.loads(order["config"]))
    report = functools.partial(_answer_row, answers)
    run = run_training(config, order["out"], report=report)
    _answer(answers, kind="done", row=run.log()[-1])


def _measure(order: dict[str, Any], answers: IO[str]) -> None:
    from freeproj.experiments.engines.costs import measure_cost
    from freeproj.experiments.settings import config_from

    cost = measure_cost(config_from(tomllib.loads(order["config"])))
    _answer(answers, kind="done", row=cost._asdict())


_ORDERS = {"train": _train, "measure": _measure}


def _kind_of(error: Exception) -> str:
    from freeproj.experiments.run import LockedRunError
    from freeproj.training import DivergedError

    if isinstance(error, DivergedError):
        return "diverged"
    return "locked" if isinstance(error, LockedRunError) else "failed"


def _answer_row(answers: IO[str], row: dict[str, Any]) -> None:
    _answer(answers, kind="row", row=row)


def _answer(answers: IO[str], **values: Any) -> None:
    answers.write(json.dumps(values) + "\n")
