"""Files of a run are the run's own: no link is followed, no pipe is waited for."""

import os

import pytest

from freeproj.experiments.run import Run, open_run, run_training
from freeproj.experiments.settings import read_config
from freeproj.experiments.store import find_runs, read_folder
from freeproj.storage.files import append_synced, locked

CONFIG = read_config("smoke")


def test_a_lock_that_is_a_link_leaves_its_target_alone(tmp_path):
    target = tmp_path / "precious"
    target.write_text("kept")
    run = open_run(tmp_path, CONFIG)
    (run.folder / "lock").symlink_to(target)
    with pytest.raises(ValueError, match=r"lock is a link, not a lock; delete it"):
        run_training(CONFIG, tmp_path)
    assert target.read_text() == "kept"


def test_a_lock_is_not_emptied(tmp_path):
    (tmp_path / "lock").write_text("kept")
    with Run(tmp_path, CONFIG).lock(), pytest.raises(BlockingIOError):
        locked(tmp_path / "lock", BlockingIOError()).__enter__()
    assert (tmp_path / "lock").read_text() == "kept"


def test_nothing_is_appended_through_a_link(tmp_path):
    target = tmp_path / "precious"
    target.write_text("kept")
    (tmp_path / "log.jsonl").symlink_to(target)
    with pytest.raises(OSError, match="symbolic link"):
        append_synced(tmp_path / "log.jsonl", b"more")
    assert target.read_text() == "kept"


def test_folders_without_end_do_not_stop_the_search(tmp_path, monkeypatch):
    run = open_run(tmp_path / "runs", CONFIG)
    monkeypatch.chdir(run.folder.parent)
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")
    try:
        assert list(find_runs(tmp_path)) == [run.folder]
    finally:  # no library can delete this
        for _ in range(1500):
            os.chdir("..")
            os.rmdir("d")


def test_a_folder_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    run = open_run(tmp_path, CONFIG)
    scan, stat = os.scandir, os.stat

    def denied(real):
        def call(path, *rest, **more):
            if str(path).startswith(str(run.folder)):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *rest, **more)

        return call

    monkeypatch.setattr(os, "scandir", denied(scan))
    monkeypatch.setattr(os, "stat", denied(stat))
    (aside,) = read_folder(tmp_path).values()
    assert aside.path == run.folder
    assert "Permission denied" in aside.reason
