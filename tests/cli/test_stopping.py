"""How commands end: one line for every error, and the exit code that it asks for."""

import errno
import subprocess
import sys
import time

import click
import pytest

from freeproj import cli
from freeproj.cli.stopping import TerminatedError


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ValueError("bad"), 2, "bad"),
        (RecursionError("x"), 2, "nested too deeply"),
        (MemoryError(), 1, "Not enough memory"),
        (OSError(errno.EROFS, "Read-only file system", "a"), 2, "a: Read-only file"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "a"), 2, "too long"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "a"), 2, "a: Not a dir"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left"),
        (ArithmeticError("Diverged"), 1, "Diverged"),
        (KeyError("k"), 1, "Unexpected KeyError: 'k'"),
        (ModuleNotFoundError("No module named 'q'", name="q"), 1, "No module named"),
        (ModuleNotFoundError("x", name="ray"), 2, "pip install 'freeproj[ray]'"),
        (ValueError("a\x1b[31m\nb"), 2, r"a\x1b[31m b"),
        (RuntimeError("Unable to initialize backend 'tpu'"), 2, "no such device"),
        (TerminatedError(), 143, "Stopped."),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
)
def test_every_error_is_one_line(error, code, said, monkeypatch, capsys):
    @click.command()
    def fail():
        raise error

    monkeypatch.setattr(cli, "_commands", fail)
    monkeypatch.delenv("FREEPROJ_DEBUG", raising=False)
    with pytest.raises(SystemExit) as stop:
        cli.main([])
    assert stop.value.code == code
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("freeproj: ")
    assert said in line


def test_debugging_keeps_the_traceback(monkeypatch):
    @click.command()
    def fail():
        raise KeyError("k")

    monkeypatch.setattr(cli, "_commands", fail)
    monkeypatch.setenv("FREEPROJ_DEBUG", "1")
    with pytest.raises(KeyError):
        cli.main([])


@pytest.mark.slow
def test_a_scheduler_ends_a_run_and_the_same_command_resumes(tmp_path):
    settings = ("task=HigherLower", "n_updates=400", "evaluation.every=0")
    command = [sys.executable, "-m", "freeproj", "train", "smoke", "--quiet"]
    command += [part for each in settings for part in ("--set", each)]
    command += ["--out", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not any(log.stat().st_size for log in tmp_path.glob("*/log.jsonl")):
        assert process.poll() is None
        time.sleep(0.01)
    process.terminate()
    _, errors = process.communicate()
    assert process.returncode == 143
    assert errors.startswith("Stopped after ")
    assert "Rerun the same command to resume." in errors
    subprocess.run(command, check=True, capture_output=True)
    (log,) = tmp_path.glob("*/log.jsonl")
    assert log.read_text().count("\n") == 400
