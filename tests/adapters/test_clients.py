"""Other people's trainers find our environments by id, and other systems import us.

PPO of Stable-Baselines3 by id is a command of docs/gymnasium.md, which is run as well.
"""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import gymnasium as gym
import pytest

import freeproj
import freeproj.gymnasium

SOURCE = Path(freeproj.__file__).parent


def test_stable_baselines3_makes_vector_environments_by_id():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env("freeproj/CountRecall-v0", n_envs=3, seed=0)
    assert envs.reset().shape == (3, 4)


def test_an_id_with_its_module_works_in_worker_processes():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import SubprocVecEnv

    name = "freeproj.gymnasium:freeproj/Battleship-v0"
    settings = {
        "vec_env_cls": SubprocVecEnv,
        "vec_env_kwargs": {"start_method": "spawn"},
    }
    envs = make_vec_env(name, n_envs=2, seed=0, **settings)
    try:
        envs.reset()
        assert envs.step([0, 1])[0].shape == (2, 2)
    finally:
        envs.close()


def test_a_wheel_holds_nothing_but_the_package(tmp_path):
    """Nothing that Python would run at its start, nor a module beside ours."""
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    root = SOURCE.parents[1]
    if not (root / "pyproject.toml").is_file():
        pytest.skip("not a checkout")
    (wheel,) = hatchling.WheelBuilder(str(root)).build(
        directory=str(tmp_path), versions=["standard"]
    )
    with zipfile.ZipFile(wheel) as file:
        homes = {name.split("/")[0] for name in file.namelist()}
        entries = next(n for n in file.namelist() if n.endswith("entry_points.txt"))
        groups = file.read(entries).decode()
    assert {home.split("-")[0] for home in homes} == {"freeproj"}
    assert not any(name.endswith(".pth") for name in homes)
    assert re.findall(r"\[(.*?)\]", groups) == ["console_scripts"]


def test_maskable_ppo_asks_for_the_masks():
    contrib = pytest.importorskip("sb3_contrib")
    env = gym.make(
        "freeproj/MetaEnv-v0", tasks=["HigherLower", "Minesweeper"], n_trials=2, dim=16
    )
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32)
    assert model.learn(32).num_timesteps == 32


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ["Battleship", "StatelessPendulum", "MetaEnv"])
def test_torchrl_finds_the_specs_right(env_id):
    torchrl = pytest.importorskip("torchrl.envs")
    env = torchrl.GymEnv(f"freeproj/{env_id}-v0")
    torchrl.check_env_specs(env)


def test_an_unknown_argument_is_refused_in_the_words_that_torchrl_looks_for():
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
        gym.make("freeproj/MetaEnv-v0", frameskip=1)


def test_everything_imports_where_unix_modules_are_missing():
    """Windows has neither `fcntl` nor `resource`."""
    modules = [
        ".".join(("freeproj", *path.relative_to(SOURCE).with_suffix("").parts))
        for folder in ("experiments", "cli", "envs")
        for path in SOURCE.joinpath(folder).rglob("*.py")
        if path.stem not in ("ray", "slurm", "__init__")
    ]
    code = "import sys, importlib; sys.modules |= {'fcntl': None, 'resource': None}\n"
    code += f"for name in {modules!r}: importlib.import_module(name)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-500:]
