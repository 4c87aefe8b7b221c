"""A real power cut: copy the disk under a running writer, mount the copy, resume.

The disk is an ext4 image on a loop device. What the file system has not yet sent to it
is not in the copy, exactly as after a cut. The writer records states as training does,
but without training: what counts are the files.
"""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import freeproj
from freeproj.experiments import run as run_module
from freeproj.experiments.run import Run
from freeproj.experiments.settings import read_config
from freeproj.storage.files import write_atomically

pytestmark = pytest.mark.slow

N_CUTS, N_KILLS, N_UPDATES = 25, 5, 100_000
WRITER = """
import sys
sys.path[:0] = {path!r}
import test_power_cut as test
test.write({folder!r}, test.N_UPDATES)
"""


class State(NamedTuple):
    """Stands in for the state of training."""

    weights: np.ndarray
    n_done: np.ndarray


def state_of(number):
    return State(np.full(20_000, number, np.float32), np.asarray(number, np.int32))


def row_of(number):
    return {"update": number, "loss/value": number / 7}


def write(folder, n_updates):
    """Go on recording updates, each synced, and say so on standard output."""
    run_module.SYNC_SECONDS = 0
    run, n_done = Run(Path(folder), read_config("smoke")), 0
    if run.has_checkpoint:
        _, n_done = run.resume(state_of(0))
    for number in range(n_done + 1, n_updates + 1):
        run.record(state_of(number), row_of(number))
        print(number, flush=True)


def start_writer(folder, reported):
    """Start a process that records updates; it reports to a file."""
    here = [str(Path(__file__).parent), str(Path(freeproj.__file__).parents[1])]
    code = WRITER.format(path=here, folder=str(folder))
    with open(reported, "w") as out:
        return subprocess.Popen([sys.executable, "-c", code], stdout=out)


def wait_for(writer, reported, n_lines):
    while reported.read_text().count("\n") < n_lines:
        assert writer.poll() is None
        time.sleep(0.01)


@pytest.fixture
def disk(tmp_path):
    """An ext4 image, mounted at `mnt`."""
    image, place = tmp_path / "disk.img", tmp_path / "mnt"
    image.write_bytes(bytes(24 * 2**20))
    place.mkdir()
    try:
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, place], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("an image cannot be mounted here")
    yield image, place
    subprocess.run(["umount", "-l", place], check=True)


def cut(image, copy, place):
    """Mount a copy of the disk as it is now; the file system repairs itself."""
    shutil.copyfile(image, copy)
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop", copy, place], check=True)


def test_every_power_cut_resumes_and_loses_nothing_that_was_reported(
    disk, tmp_path, monkeypatch
):
    monkeypatch.setattr(run_module, "SYNC_SECONDS", 0)
    image, place = disk
    folder = place / "run"
    write_atomically(folder / "config.toml", lambda file: file.write(b""))
    reported = tmp_path / "reported"
    writer = start_writer(folder, reported)
    chance, copy, after = random.Random(0), tmp_path / "copy.img", tmp_path / "after"
    try:
        for _ in range(N_CUTS):
            wait_for(writer, reported, n_lines=reported.read_text().count("\n") + 2)
            time.sleep(chance.random() / 10)
            writer.send_signal(signal.SIGSTOP)
            n_reported = reported.read_text().count("\n")
            cut(image, copy, after)
            writer.send_signal(signal.SIGCONT)
            try:
                check(after / "run", n_reported)
            finally:
                subprocess.run(["umount", after], check=True)
    finally:
        writer.kill()
        writer.wait()


def check(folder, n_reported):
    run = Run(folder, read_config("smoke"))
    run.clear()
    state, n_done = run.resume(state_of(0))
    assert n_reported <= n_done <= n_reported + 1
    assert (np.asarray(state.weights) == n_done).all()
    write(folder, n_done + 2)
    run.finish([np.arange(3)])
    assert run.log() == [row_of(number) for number in range(1, n_done + 3)]
    assert not list(folder.rglob(".*"))


def test_kill_9_at_any_instant_loses_nothing_that_was_reported(tmp_path):
    folder, chance = tmp_path / "run", random.Random(1)
    write_atomically(folder / "config.toml", lambda file: file.write(b""))
    for _ in range(N_KILLS):
        reported = tmp_path / "reported"
        writer = start_writer(folder, reported)
        wait_for(writer, reported, n_lines=2)
        time.sleep(chance.random() / 10)
        writer.kill()
        writer.wait()
        last = int(reported.read_text().split("\n")[-2])
        run = Run(folder, read_config("smoke"))
        run.clear()
        _, n_done = run.resume(state_of(0))
        assert last <= n_done <= last + 1
        assert run.log() == [row_of(number) for number in range(1, n_done + 1)]
    assert not list(folder.rglob(".*"))
