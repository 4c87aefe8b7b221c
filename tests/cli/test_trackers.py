"""What other people's dashboards are told of a run."""

import sys
import types

import pytest

from freeproj.cli.train import open_trackers

SETTINGS = {"task": "HigherLower", "ppo.clip": 0.2, "maps": ("tile",), "seed": 3}
ROW = {"steps": 64, "train/episode_return": 0.5, "n": 2, "test/trials": [1.0]}


class Recorder:
    """Stands in for a run of Weights & Biases."""

    def __init__(self):
        self.rows, self.opened, self.finished = [], [], False

    def init(self, **settings):
        self.opened.append(settings)
        return self

    def log(self, row, step):
        self.rows.append((row, step))

    def finish(self):
        self.finished = True


@pytest.fixture
def wandb(monkeypatch):
    recorder = Recorder()
    module = types.SimpleNamespace(init=recorder.init)
    monkeypatch.setitem(sys.modules, "wandb", module)
    return recorder


def test_a_run_has_its_settings_a_stable_id_and_resumes(tmp_path, wandb):
    for _ in range(2):
        (tracker,) = open_trackers(tmp_path / "run-1", SETTINGS, False, True)
    first, again = wandb.opened
    assert first == again
    assert first["config"] == SETTINGS
    assert (first["id"], first["resume"]) == ("run-1", "allow")
    tracker.log(ROW)
    tracker.close()
    assert wandb.rows == [({"steps": 64, "train/episode_return": 0.5, "n": 2}, 64)]
    assert wandb.finished


def test_seeds_of_one_setting_share_a_group_and_others_do_not(tmp_path, wandb):
    others = SETTINGS | {"seed": 4}, SETTINGS | {"ppo.clip": 0.1}
    for settings in (SETTINGS, *others):
        open_trackers(tmp_path, settings, False, True)
    same, seed, clip = (opened["group"] for opened in wandb.opened)
    assert same == seed != clip
    assert same.startswith("HigherLower-")


def test_tensorboard_gets_the_settings_with_the_last_returns(tmp_path, monkeypatch):
    board = pytest.importorskip("tensorboardX")
    written = []
    monkeypatch.setattr(
        board.SummaryWriter,
        "add_hparams",
        lambda self, settings, returns, name: written.append((settings, returns)),
    )
    (tracker,) = open_trackers(tmp_path, SETTINGS, True, False)
    tracker.log(ROW)
    tracker.close()
    ((settings, returns),) = written
    assert settings == SETTINGS | {"maps": "('tile',)"}
    assert returns == {"train/episode_return": 0.5}
    assert list((tmp_path / "tensorboard").iterdir())
