"""A worker of the local engine: a process that carries out orders, one by one.

An order is a line of JSON on standard input, an answer a line of JSON on standard
output; everything that libraries print goes to standard error. An answer that is not a
row ends the run that it names; if it names none, it ends all runs of the order. The
worker ends as soon as its input does, so no worker outlives its driver, however that
ended.
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
from collections.abc import Callable
from typing import IO, Any

__all__ = ["main", "train_runs"]


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
            _answer(answers, **_error(error))


def _listen(orders: queue.Queue[str]) -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)  # the driver is gone, or has no more orders; the disk is safe anyway


def _train(order: dict[str, Any], answers: IO[str]) -> None:
    report = functools.partial(_answer, answers, kind="row")
    for number, end in enumerate(train_runs(order["configs"], order["out"], report)):
        _answer(answers, run=number, **end)


def train_runs(
    settings: list[str], out: str, report: Callable[..., None]
) -> list[dict[str, Any]]:
    """Train runs that differ in their seed; return an answer for each.

    `report` is called with `run=` and `row=` for each new row of a log.
    """
    from freeproj.experiments.run_seeds import run_seeds
    from freeproj.experiments.settings import config_from

    configs = [config_from(tomllib.loads(text)) for text in settings]
    numbers = {config: number for number, config in enumerate(configs)}
    ends = run_seeds(
        configs, out, report=lambda config, row: report(run=numbers[config], row=row)
    )
    return [
        _error(end)
        if isinstance(end, Exception)
        else {"kind": "done", "row": end.log()[-1]}
        for end in ends
    ]


def _measure(order: dict[str, Any], answers: IO[str]) -> None:
    from freeproj.experiments.engines.costs import measure_cost
    from freeproj.experiments.settings import config_from

    cost = measure_cost(config_from(tomllib.loads(order["config"])))
    _answer(answers, kind="done", row=cost._asdict())


_ORDERS = {"train": _train, "measure": _measure}


def _error(error: Exception) -> dict[str, Any]:
    from freeproj.experiments.run import LockedRunError
    from freeproj.learning.train import DivergedError

    if isinstance(error, DivergedError):
        return {"kind": "diverged", "text": str(error)}
    is_debugging = os.environ.get("FREEPROJ_DEBUG", "") not in ("", "0")
    write = traceback.format_exception if is_debugging else _last_line
    text = "".join(write(error)).strip()
    kind = "locked" if isinstance(error, LockedRunError) else "failed"
    return {"kind": kind, "text": text}


def _last_line(error: Exception) -> str:
    return traceback.format_exception_only(error)[-1]


def _answer(answers: IO[str], **values: Any) -> None:
    answers.write(json.dumps(values) + "\n")
