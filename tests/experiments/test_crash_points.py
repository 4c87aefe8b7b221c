"""Every file call of a run is a place to die: resume finds the last consistent pair.

`Disk` stands between `freeproj.storage.files` and the system. It counts the calls that
change something, dies or fails at a chosen one, and knows what was synced: a file has
the bytes of its last fsync, a folder the names of its last fsync. After a power cut
only those are left, or those and half of what came after.
"""

import contextlib
import errno
import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from freeproj.experiments import run as run_module
from freeproj.experiments.run import Run
from freeproj.experiments.settings import read_config
from freeproj.storage import files

CONFIG = read_config("smoke")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """The model knows what was synced; waiting for the real disk shows nothing."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


N_UPDATES = 2
CALLS = ("open", "write", "fsync", "replace", "unlink", "mkdir")


class State(NamedTuple):
    """Stands in for the state of training."""

    weights: np.ndarray
    n_done: np.ndarray


class DeadError(BaseException):
    """The process ends here; nothing may catch it."""


class Disk:
    """The module `os` with a memory of what was synced, and a chosen end."""

    def __init__(self, root: Path, at: int = -1, how: str = ""):
        self.root, self.at, self.how = root, at, how
        self.count, self.is_dead = 0, False
        self.bytes: dict[int, bytes] = {}  # by inode: as of the last fsync
        self.names: dict[Path, dict[str, int]] = {}  # by folder: name -> inode
        self.handles: dict[int, Path] = {}
        self.folders = {root}
        for folder in [root, *(each for each in root.rglob("*") if each.is_dir())]:
            self._sync(folder)
        for path in (each for each in root.rglob("*") if each.is_file()):
            self._sync(path)

    def __getattr__(self, name: str) -> Any:
        call = getattr(os, name)
        return self._counted(name, call) if name in CALLS else call

    def _counted(self, name, call):
        def counted(*arguments):
            if self.is_dead:
                raise DeadError  # the dead clear nothing up
            self.count += 1
            mine = self.count == self.at
            if mine and self.how == "before":
                self._die()
            if mine and self.how in ("EIO", "ENOSPC"):
                raise OSError(getattr(errno, self.how), os.strerror(errno.EIO))
            if mine and self.how == "torn" and name == "write":
                os.write(arguments[0], arguments[1][: len(arguments[1]) // 2])
                self._die()
            result = call(*arguments)
            if name == "open":
                path = self.handles[result] = Path(arguments[0])
                if path.is_file() and not path.stat().st_size:
                    self.bytes[path.stat().st_ino] = b""  # inodes are used again
            elif name == "fsync":
                self._sync(self.handles[arguments[0]])
            if mine and self.how in ("after", "torn"):
                self._die()
            return result

        return counted

    def _die(self):
        self.is_dead = True
        raise DeadError

    def _sync(self, path: Path) -> None:
        if path.is_dir():
            self.names[path] = {p.name: p.stat().st_ino for p in path.iterdir()}
        else:
            self.bytes[path.stat().st_ino] = path.read_bytes()

    def cut_power(self, copy: Path, share: float, renames: bool) -> None:
        """Write what is left to a copy: what was synced, and a share of the rest.

        Args:
            renames: whether names that were not synced are there all the same.
        """
        now = {p.stat().st_ino: p for p in self.root.rglob("*") if p.is_file()}
        if renames:
            for folder in [self.root, *(p for p in self.root.rglob("*") if p.is_dir())]:
                self._sync(folder)
        self._cut(self.root, copy, share, now)

    def _cut(self, folder: Path, copy: Path, share: float, now: dict[int, Path]):
        copy.mkdir()
        for name, inode in self.names.get(folder, {}).items():
            if (folder / name).is_dir():
                self._cut(folder / name, copy / name, share, now)
                continue
            safe = self.bytes.get(inode, b"")
            later = now[inode].read_bytes() if inode in now else safe
            grown = later if later.startswith(safe) else safe
            n_bytes = len(safe) + int(share * (len(grown) - len(safe)))
            (copy / name).write_bytes(grown[:n_bytes])


def state_of(number):
    return State(np.full(50, number, np.float32), np.asarray(number, np.int32))


def new_run(root):
    """Make a folder as `open_run` does."""
    (root / "run").mkdir(parents=True)
    return Run(root / "run", CONFIG)


def resumed(run):
    """Return the number of updates from which a run goes on, as `run_training` does."""
    run.clear()
    if not run.has_checkpoint:
        run.cut(0)
        return 0
    state, n_done = run.resume(state_of(0))
    assert (np.asarray(state.weights) == n_done).all()
    return n_done


def carry_out(run, acknowledged):
    """Resume, record the rest and finish; every report is an acknowledgement."""
    for number in range(resumed(run) + 1, N_UPDATES + 1):
        row = {"update": number, "loss/value": number / 7, "train/n_finished": None}
        run.record(state_of(number), row)
        acknowledged.append(number)
    run.finish([np.arange(3)])


def leave_a_tail(run):
    """Bring a run to where it dies between log and checkpoint: resume has to cut."""
    run.record(state_of(1), {"update": 1})
    files.append_synced(run.folder / "log.jsonl", b'{"update": 2, "cr')
    (run.folder / "checkpoint" / ".state.npz.dead").write_bytes(b"PK")


def ends_well(run, n_safe, n_last):
    """Check that no safe update is lost, and that the run comes to its end."""
    if not run.is_finished:
        n_done = resumed(run)
        assert n_safe <= n_done <= n_last + 1
        assert [row["update"] for row in run.log()] == list(range(1, n_done + 1))
        carry_out(run, [])
    assert [row["update"] for row in run.log()] == list(range(1, N_UPDATES + 1))
    assert (run.folder / "agent.npz").is_file()
    assert not list(run.folder.rglob(".*"))


def n_calls(root, prepare, monkeypatch):
    run = new_run(root)
    prepare(run)
    disk = Disk(root)
    monkeypatch.setattr(files, "os", disk)
    carry_out(run, [])
    monkeypatch.setattr(files, "os", os)
    return disk.count


LEFT = [(0, False), (0, True), (0.5, True)]  # share of unsynced bytes, renames


@pytest.mark.parametrize(
    ("how", "seconds", "prepare"),
    [
        *((how, 0, leave_a_tail) for how in ("before", "after", "torn", "EIO")),
        *((how, math.inf, lambda run: None) for how in ("before", "torn", "ENOSPC")),
    ],
)
def test_a_run_survives_its_end_at_every_file_call(
    how, seconds, prepare, tmp_path, monkeypatch
):
    monkeypatch.setattr(run_module, "SYNC_SECONDS", seconds)
    total = n_calls(tmp_path / "count", prepare, monkeypatch)
    assert total > 20
    for at in range(1, total + 1):
        root = tmp_path / str(at)
        run, acknowledged = new_run(root), []
        prepare(run)
        if run.has_checkpoint:
            acknowledged.append(1)
        disk = Disk(root, at, how)
        monkeypatch.setattr(files, "os", disk)
        with contextlib.suppress(DeadError, OSError):
            carry_out(run, acknowledged)
        monkeypatch.setattr(files, "os", os)
        n_last = max(acknowledged, default=0)
        n_synced = min(n_last, 1) if seconds else n_last  # the first always is
        for number, (share, renames) in enumerate(LEFT):
            copy = tmp_path / f"{at}-{number}"
            disk.cut_power(copy, share, renames)
            ends_well(Run(copy / "run", CONFIG), n_synced, n_last)
        ends_well(run, n_last, n_last)  # kill -9: the system keeps what was written


def test_the_model_sees_what_an_unsynced_log_loses(tmp_path, monkeypatch):
    """Without fsync of the log the checkpoint is ahead of it: 0.1's bug."""
    run = new_run(tmp_path / "root")
    disk = Disk(tmp_path / "root")
    monkeypatch.setattr(files, "os", disk)
    run.record(state_of(1), {"update": 1})
    disk.bytes[(run.folder / "log.jsonl").stat().st_ino] = b""
    disk.cut_power(tmp_path / "copy", 0, True)
    with pytest.raises(ValueError, match="does not hold the 1 updates"):
        Run(tmp_path / "copy" / "run", CONFIG).resume(state_of(0))


def test_the_newest_whole_state_is_the_one_to_use(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "SYNC_SECONDS", math.inf)
    run = new_run(tmp_path)
    for number in (1, 2, 3):
        run.record(state_of(number), {"update": number})
    assert int(run.newest_state(state_of(0)).n_done) == 3  # not synced, but there
    (run.folder / "checkpoint" / "latest.npz").write_bytes(b"PK")
    assert int(run.newest_state(state_of(0)).n_done) == 1
    assert len(run.log()) == 3  # looking changes nothing


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_pipe_in_place_of_the_lock_is_refused_at_once(tmp_path):
    run = new_run(tmp_path)
    os.mkfifo(run.folder / "lock")
    with pytest.raises(ValueError, match="not a regular file"), run.lock():
        pass


def test_resume_says_what_it_dropped(tmp_path, caplog):
    run = new_run(tmp_path)
    leave_a_tail(run)
    assert resumed(run) == 1
    assert "cut lines beyond the checkpoint; resuming after update 1" in caplog.text


@pytest.mark.parametrize("how", ["before", "after", "torn", "EIO"])
def test_what_is_exported_is_the_old_file_or_the_new_one(how, tmp_path, monkeypatch):
    """Agents, reports, tables and figures are all written by `write_atomically`."""
    old, new, at = b"old" * 1000, b"new" * 2000, 0
    while True:
        at += 1
        root = tmp_path / str(at)
        root.mkdir()
        files.write_atomically(root / "kept.npz", lambda file: file.write(old))
        disk = Disk(root, at, how)
        monkeypatch.setattr(files, "os", disk)
        with contextlib.suppress(DeadError, OSError):
            files.write_atomically(root / "kept.npz", lambda file: file.write(new))
        monkeypatch.setattr(files, "os", os)
        for number, (share, renames) in enumerate(LEFT):
            disk.cut_power(tmp_path / f"{at}-{number}", share, renames)
            found = (tmp_path / f"{at}-{number}" / "kept.npz").read_bytes()
            assert found in (old, new)
        if disk.count < at:
            assert at > 4
            return
