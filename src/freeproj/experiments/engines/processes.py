"""Worker processes, as the driver sees them: orders in, answers out, one at a time."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from freeproj.experiments.engines.events import last_lines
from freeproj.storage.threads import SINGLE_THREAD

__all__ = ["WorkerProcess"]

# The worker sees the modules that the driver sees, installed or not.
_START = (
    "import sys; sys.path[:] = {path!r}; "
    "import freeproj.experiments.engines.worker as w; w.main()"
)


class WorkerProcess:
    """A Python process, by default with one XLA thread; a mutable object."""

    def __init__(self, env: Mapping[str, str] = SINGLE_THREAD):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        # A group of its own: Ctrl-C reaches the driver only, which then ends it.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **env},
            text=True,
            process_group=0,
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, **order: Any) -> Iterator[dict[str, Any]]:
        """Send an order; yield answers until all of its runs have ended.

        A worker that dies answers `died`, with the end of what it printed.
        """
        n_left = len(order.get("configs", [""]))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            for line in self._process.stdout:
                answer = json.loads(line)
                yield answer
                if answer["kind"] != "row":
                    n_left -= 1 if "run" in answer else n_left
                if not n_left:
                    return
        except (BrokenPipeError, json.JSONDecodeError):
            pass  # the worker died while it wrote or read a line
        yield {"kind": "died", "text": self._last_words()}

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

    def _last_words(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        printed = self._errors.read().decode(errors="replace")
        return last_lines(f"{printed}\nThe worker ended with code {code}.")
