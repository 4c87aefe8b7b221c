"""A command line that runs in this process and returns what a shell would see."""

import subprocess
import sys
from typing import NamedTuple

import pytest

from freeproj.cli import main


class Outcome(NamedTuple):
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def freeproj(capsys):
    """Runs `freeproj ARGUMENTS…` in this process."""

    def run(*arguments):
        try:
            main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def shell():
    """Runs `python -m freeproj ARGUMENTS…` as a process of its own."""

    def run(*arguments, **options):
        command = [sys.executable, "-m", "freeproj", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, **options)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run
