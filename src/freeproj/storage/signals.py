"""Ctrl-C and SIGTERM, taken where it is safe to stop.

A handler that raises would do so anywhere: also inside a callback of JAX, where the
exception is lost, or while JAX computes, where leaving crashes. So a thread of its own
receives the signals of a program, and nothing is raised at a random place:

- By default the program ends at once. Files are there whole or not at all.
- Inside `stoppable` the signal is kept, and `take_stop` raises it where a loop is ready
  to stop. The program ends without it after `PATIENCE` seconds.
- Inside `waiting`, where a person is asked for input, the signal is raised.
- A second signal ends the program at once, wherever it is.
- `leave` ends a program that is done. A signal that came before still counts.
"""

import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["PATIENCE", "TerminatedError", "catch_signals", "leave", "stoppable"]
__all__ += ["take_stop", "waiting"]

PATIENCE = 5.0  # seconds that a loop has to take a signal
_SHOW_CURSOR = "\r\x1b[K\x1b[?25h"  # a progress bar may have hidden it


class TerminatedError(KeyboardInterrupt):
    """Raised on SIGTERM: ends a command as Ctrl-C does, with another exit code."""


class _Signals:
    """What the program has been sent so far; a mutable object, as there is one."""

    caught = False  # whether this process receives its signals here
    number = 0  # of the first signal
    arrived = 0  # a signal that the main thread knows of, maybe before the other one
    depth = 0  # of the regions that take it themselves
    waiting = False
    message = ""


_STATE = _Signals()
_ENDING = threading.RLock()  # kept by the thread that ends the program


def catch_signals() -> None:
    """Receive Ctrl-C and SIGTERM in a thread, to the end of this program."""
    if _STATE.caught:
        return
    _STATE.caught = True
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    # Python calls a handler between two of its own steps only, which may be minutes
    # away. What stands in this pipe is there at once.
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_receive, args=(reader,), daemon=True).start()
    # Last, so that no signal comes to a handler whose pipe nobody reads yet.
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _in_main_thread)


@contextlib.contextmanager
def stoppable(message: str = "") -> Iterator[None]:
    """Keep a signal until `take_stop` is called, or until the end of the block.

    Args:
        message: what to say if the signal is not taken in time.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before, _STATE.message = _STATE.message, message or _STATE.message
    _STATE.depth += 1
    try:
        yield
    finally:
        _STATE.depth -= 1
        _STATE.message = before
    if not _STATE.depth:
        take_stop()


def take_stop() -> None:
    """Raise what the program was sent, if anything; loops call this between steps."""
    if _STATE.number and threading.current_thread() is threading.main_thread():
        raise _error()


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Let a signal raise at once: around a call that waits for a person's input."""
    _STATE.waiting = True
    try:
        yield
    finally:
        _STATE.waiting = False


def leave(code: int) -> None:
    """End a program with this exit code, or with that of a signal that came before.

    JAX's threads are not waited for, as they may crash at the end. In a process that
    does not catch signals, such as a test, this does nothing.
    """
    if not _STATE.caught:
        return
    atexit._run_exitfuncs()
    code = _flushed(code)
    _ENDING.acquire()  # waits for ever if another thread is ending the program
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is _in_main_thread:
            # Calls it for what has come before; what comes later ends the program.
            signal.signal(number, signal.SIG_DFL)
    if _STATE.arrived and code not in (130, 143):  # nobody has said so yet
        _STATE.number = _STATE.number or _STATE.arrived
        _end()
    os._exit(code)


def _in_main_thread(number: int, _frame: FrameType | None) -> None:
    _STATE.arrived = _STATE.arrived or number
    if _STATE.waiting:
        _STATE.number = number
        raise _error()


def _receive(reader: int) -> None:
    while True:
        for number in os.read(reader, 64):
            if number in (signal.SIGINT, signal.SIGTERM):
                _signalled(number)


def _signalled(number: int) -> None:
    if _STATE.waiting:
        return  # the main thread's handler raises
    if _STATE.number or not _STATE.depth:
        _STATE.number = _STATE.number or number
        _end()
    _STATE.number = number
    timer = threading.Timer(PATIENCE, _end)
    timer.daemon = True
    timer.start()


def _end() -> None:
    """Say that the program was stopped, and end it from whatever thread this is."""
    _ENDING.acquire()
    text = f"{_STATE.message or 'freeproj: Stopped.'}\n"
    with contextlib.suppress(OSError):
        if os.isatty(2):
            text = _SHOW_CURSOR + text
        os.write(2, text.encode())
    # The main thread may hold the buffer's lock, in front of a pipe nobody reads.
    flush = threading.Thread(target=_flushed, args=(0,), daemon=True)
    flush.start()
    flush.join(1.0)
    os._exit(128 + _STATE.number)


def _error() -> KeyboardInterrupt:
    is_term = _STATE.number == signal.SIGTERM
    return TerminatedError() if is_term else KeyboardInterrupt()


def _flushed(code: int) -> int:
    """Write what is still buffered; return the code, or 1 if it cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # closed, or no stream at all
            code = code or 1
    return code
