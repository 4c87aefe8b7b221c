"""How a command ends early: Ctrl-C, a scheduler's SIGTERM, or an error, on one line.

Bad input ends with exit code 2, failed work with 1, Ctrl-C with 130 and SIGTERM with
143; `storage.signals` says when they are taken. With `FREEPROJ_DEBUG=1` an error keeps
its traceback.
"""

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterator

from freeproj.cli.output import echo
from freeproj.storage.signals import TerminatedError, stoppable

__all__ = ["explain", "resumable", "stop_code"]

_INPUT_ERRORS = (
    *(ValueError, FileNotFoundError, FileExistsError),
    *(IsADirectoryError, NotADirectoryError, PermissionError),
)
_INPUT_NUMBERS = (errno.ENAMETOOLONG, errno.EROFS, errno.ELOOP, errno.EINVAL)
_NO_DEVICE = re.compile("(Unknown|Unable to initialize) backend")


def explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code that an error asks for, and in one line what it means."""
    text, is_input = str(error), isinstance(error, _INPUT_ERRORS)
    match error:
        case KeyboardInterrupt():
            return stop_code(error), "Stopped."
        case ModuleNotFoundError() if needed := _missing_extra(error):
            return 2, needed
        case RecursionError():
            return 2, "The input is nested too deeply."
        case RuntimeError() if "RESOURCE_EXHAUSTED" in text:  # as XLA says it
            return 1, "Not enough memory for these settings."
        case RuntimeError() if _NO_DEVICE.search(text):
            asked = os.environ.get("JAX_PLATFORMS", "")
            said = f" JAX_PLATFORMS={asked} asks for it;" if asked else ""
            way_out = "`freeproj doctor` lists devices."
            return 2, f"JAX finds no such device.{said} {way_out}"
        case MemoryError():
            return 1, f"Not enough memory. {text}".strip()
        case OSError(errno=int(number)):
            # os.strerror is the usual English sentence; str(error) would add a number.
            named = f"{error.filename}: " if error.filename is not None else ""
            code = 2 if is_input or number in _INPUT_NUMBERS else 1
            return code, f"{named}{error.strerror or os.strerror(number)}."
        case ValueError() | OSError() | ArithmeticError():
            return 2 if is_input else 1, text or type(error).__name__
    what = f"Unexpected {type(error).__name__}: {text}. Please report this;"
    return 1, f"{what} FREEPROJ_DEBUG=1 shows the traceback."


def stop_code(stop: BaseException | None) -> int:
    """Return the exit code of a command that was stopped."""
    return 143 if isinstance(stop, TerminatedError) else 130


@contextlib.contextmanager
def resumable(reached: Callable[[], str]) -> Iterator[None]:
    """Stop where updates are saved, say how far the work has come, and leave."""
    again = "Rerun the same command to resume."
    try:
        with stoppable(f"Stopped; finished updates are saved. {again}"):
            yield
    except KeyboardInterrupt as stop:
        echo(f"Stopped {reached()} {again}", err=True)
        raise SystemExit(stop_code(stop)) from None


def _missing_extra(error: ModuleNotFoundError) -> str:
    """Name the extra that a missing package is of; "" for a package of no extra."""
    from freeproj.cli.about import EXTRAS

    missing = (error.name or "").split(".")[0]
    named = {"PIL": "pillow", "sklearn": "scikit-learn"}
    extra = EXTRAS.get(named.get(missing, missing.lower().replace("_", "-")))
    return f"This needs {missing}: pip install 'freeproj[{extra}]'." if extra else ""
