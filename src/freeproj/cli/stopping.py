"""How a command ends early: Ctrl-C, a scheduler's SIGTERM, or an error, on one line.

Bad input ends with exit code 2, failed work with 1, Ctrl-C with 130 and SIGTERM with
143; `storage.signals` says when they are taken. With `FREEPROJ_DEBUG=1` an error keeps
its traceback.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator

from freeproj.cli.output import echo
from freeproj.storage.signals import TerminatedError, stoppable

__all__ = ["exit_code", "explain", "resumable"]

_INPUT_ERRORS = (
    *(ValueError, RecursionError, FileNotFoundError, FileExistsError),
    *(IsADirectoryError, NotADirectoryError, PermissionError),
)
_INPUT_NUMBERS = (errno.ENAMETOOLONG, errno.EROFS, errno.ELOOP, errno.EINVAL)


def exit_code(error: BaseException) -> int:
    """Return the exit code that an error asks for."""
    if isinstance(error, KeyboardInterrupt):
        return 143 if isinstance(error, TerminatedError) else 130
    is_input = isinstance(error, _INPUT_ERRORS) or _is_no_device(error)
    return 2 if is_input or getattr(error, "errno", 0) in _INPUT_NUMBERS else 1


@contextlib.contextmanager
def resumable(reached: Callable[[], str]) -> Iterator[None]:
    """Stop where updates are saved, say how far the work has come, and leave."""
    again = "Rerun the same command to resume."
    try:
        with stoppable(f"Stopped; finished updates are saved. {again}"):
            yield
    except KeyboardInterrupt as stop:
        echo(f"Stopped {reached()} {again}", err=True)
        raise SystemExit(exit_code(stop)) from None


def explain(error: BaseException) -> str:
    """Say in one line what an error means."""
    if isinstance(error, KeyboardInterrupt):
        return "Stopped."
    if isinstance(error, RecursionError):
        return "The input is nested too deeply."
    if isinstance(error, RuntimeError) and "RESOURCE_EXHAUSTED" in str(error):
        return "Not enough memory for these settings."  # as XLA says it
    if _is_no_device(error):
        asked = os.environ.get("JAX_PLATFORMS", "")
        said = f"JAX_PLATFORMS={asked} asks for it; " if asked else ""
        return f"JAX finds no such device. {said}`freeproj doctor` lists devices."
    if isinstance(error, MemoryError):
        return f"Not enough memory. {error}".strip()
    if isinstance(error, OSError) and error.errno is not None:
        # os.strerror is the usual English sentence; str(error) would add a number.
        named = f"{error.filename}: " if error.filename is not None else ""
        return f"{named}{error.strerror or os.strerror(error.errno)}."
    if isinstance(error, ValueError | OSError | ArithmeticError):
        return str(error) or type(error).__name__
    return (
        f"Unexpected {type(error).__name__}: {error}. Please report this; "
        "FREEPROJ_DEBUG=1 shows the traceback."
    )


def _is_no_device(error: BaseException) -> bool:
    """Whether JAX cannot start on the device that it was told to use."""
    text = str(error)
    return isinstance(error, RuntimeError) and (
        "Unable to initialize backend" in text or "Unknown backend" in text
    )
