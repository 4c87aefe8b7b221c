"""Signals at random instants: exit code 130 or 143, one line, no crash.

Commands are real processes. A signal is sent at any instant between the moment when the
program takes signals over from Python, some 50 ms after its start, and its end.
"""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc"
)

COMMANDS = {
    "evaluate": ("evaluate", "cartpole"),
    "export": ("export", "repeat-first", "kept.npz"),
    "watch": ("watch", "flash-cards", "--delay", "0.01"),
    "train": ("train", "smoke", "--set", "n_updates=400", "--quiet"),
    "sweep": ("sweep", "study.toml", "--jobs", "1", "--quiet"),
    "report": ("report", "published:storage", "--only", "block-spectra"),
}
STUDY = (
    'base = "smoke"\nsettings = { n_updates = 200 }\n'
    '[grid]\ntasks = ["HigherLower"]\nlengths = [4]\nseeds = 2\n'
)


@pytest.fixture(autouse=True)
def listen_to_ctrl_c():
    """A shell starts background jobs deaf to Ctrl-C, and programs inherit that."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def begin(name, folder):
    """Start a command; return once it takes signals."""
    (folder / "study.toml").write_text(STUDY)
    process = subprocess.Popen(
        [sys.executable, "-m", "freeproj", *COMMANDS[name]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not takes_signals(process.pid):
        time.sleep(0.001)
    return process


def takes_signals(pid):
    """Whether SIGTERM is caught, as the kernel says."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def duration(name, folder):
    """Return how long a command takes; at most a few seconds of the long ones."""
    if name in ("train", "sweep"):
        return 12.0
    begun = time.monotonic()
    begin(name, folder).communicate()
    return time.monotonic() - begun


def state(process):
    """Return the state of a process: T is stopped, Z has ended or is about to."""
    if process.poll() is not None:
        return "Z"
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def disturb(name, folder, chance, longest):
    """Send a signal at a random instant; None if the command had ended before."""
    process = begin(name, folder)
    time.sleep(chance.random() * longest)
    number = chance.choice((signal.SIGINT, signal.SIGTERM))
    # While it is stopped it cannot end between a look at it and the signal.
    process.send_signal(signal.SIGSTOP)
    while state(process) not in "TZ":
        time.sleep(0.001)
    had_ended = state(process) == "Z"
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    errors = process.communicate(timeout=60)[1]
    return None if had_ended else (number, process.returncode, errors)


def send(name, folder, n_signals, seed):
    """Return what came of signals that a command was sent before its end."""
    chance, longest, found = random.Random(seed), duration(name, folder), []
    for attempt in itertools.count():
        if len(found) == n_signals:
            return found
        # In a folder of its own, as a finished sweep has nothing left to stop.
        (place := folder / str(attempt)).mkdir()
        outcome = disturb(name, place, chance, longest)
        found += [outcome] if outcome else []
    raise AssertionError


def check(found):
    for number, code, errors in found:
        assert code == 128 + number, errors
        lines = [line for line in errors.splitlines() if "Stopped" in line]
        assert len(lines) == 1, errors
        assert "Traceback" not in errors


@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_at_any_instant_ends_a_command(name, tmp_path):
    check(send(name, tmp_path, 2, seed=name))
    assert not [each for each in tmp_path.rglob(".*.*") if each.is_file()]


@pytest.mark.slow
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("name", ["evaluate", "export"])
def test_a_hundred_signals_end_a_command(name, tmp_path):
    found = send(name, tmp_path, 100, seed=name)
    codes = [code for _, code, _ in found]
    print(name, {code: codes.count(code) for code in set(codes)})
    check(found)


def test_a_second_signal_ends_a_command_that_does_not_take_the_first():
    code = (
        "import time; from freeproj.storage import signals as s; s.PATIENCE = 60; "
        "s.catch_signals()\n"
        "with s.stoppable():\n    print('now', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 143
    process.stdout.close()


@pytest.mark.parametrize("region", ["", "with s.stoppable(): "])
def test_a_signal_is_not_lost_while_python_collects_garbage(region):
    """An exception of a callback of the collector is printed and forgotten."""
    code = f"""
import gc, time
from freeproj.storage import signals as s
s.PATIENCE = 0.5
s.catch_signals()
def collect(phase, info):
    {region}time.sleep(60)
gc.callbacks.append(collect)
print("now", flush=True)
gc.collect()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert errors.decode().strip() == "freeproj: Stopped."


def test_what_was_printed_before_a_signal_is_not_lost():
    code = (
        "import time; from freeproj.storage import signals as s; s.catch_signals()\n"
        "print('said'); open('/dev/stderr', 'w').write('.'); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    assert process.stderr is not None
    process.stderr.read(1)
    process.terminate()
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (143, b"said\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_last_moment_of_a_command_is_not_lost(number):
    code = (
        "import atexit, signal; from freeproj.storage import signals as s\n"
        "s.catch_signals(); print('said')\n"
        f"atexit.register(signal.raise_signal, {number:d}); s.leave(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (128 + number, "said\n")
    assert done.stderr == "freeproj: Stopped.\n"
