"""Steps and seconds until a task is learned, ours over sb3-contrib's RecurrentPPO.

    python -m pytest benchmarks/test_time_to_learn.py -n 0 -s

Both play the same plain tasks of this package with one thread, each in a process of its
own, until the mean return of the last episodes reaches the target. Seconds count from
the start of Python: cold, with an empty cache of compiled programs, and warm. Our
settings were chosen on seeds 900 to 902; sb3-contrib's are those of RL Zoo for CartPole
without velocities.
"""

# ruff: noqa: E402
import time

BEGAN = time.perf_counter()  # before the slow imports

import collections
import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from timing import run, say

from freeproj.storage.threads import SINGLE_THREAD, n_cores

SEEDS = (0, 1, 2)
PATIENCE = 150  # seconds for one of their seeds
N_RECENT = 50  # episodes whose mean return must reach the target

TASKS = {
    "StatelessCartPole": {
        "target": 0.9,
        "n_steps": 100_000,
        "ours": {"n_envs": 8, "ppo": {"n_minibatches": 1, "entropy_weight": 0.0}},
    },
    "popgym-RepeatPreviousEasy-v0": {
        "target": 0.5,
        "n_steps": 400_000,
        "ours": {"n_envs": 16, "ppo": {"n_minibatches": 2, "entropy_weight": 0.01}},
    },
}


class Learned(Exception):  # noqa: N818 (it is what one hopes for)
    """The target was reached."""


class Recent:
    """The returns of the last episodes; raises `Learned` at the target."""

    def __init__(self, target):
        self.target, self.returns = target, collections.deque(maxlen=N_RECENT)

    def add(self, mean, count=1):
        self.returns.extend([mean] * min(int(count), N_RECENT))
        full = len(self.returns) == N_RECENT
        if full and sum(self.returns) / N_RECENT >= self.target:
            raise Learned


def learn_ours(task, seed):
    """Returns the steps that our agent took."""
    import freeproj as fp

    plan = TASKS[task]
    own = {"n_epochs": 10, "learning_rate": 3e-3, **plan["ours"]["ppo"]}
    n_envs, n_steps = plan["ours"]["n_envs"], 64
    recent, steps = Recent(plan["target"]), [math.inf]

    def report(_state, row):
        if not math.isnan(row["train/episode_return"]):
            steps[0] = row["steps"]
            recent.add(row["train/episode_return"], row["train/n_finished"])

    try:
        fp.train(
            "laptop",
            seed=seed,
            progress=False,
            report=report,
            task=task,
            observation="plain",
            previous_reward=False,
            projection={"dim": 8},
            n_trials=1,
            n_envs=n_envs,
            n_steps=n_steps,
            n_updates=plan["n_steps"] // (n_envs * n_steps),
            ppo=own,
            evaluation={"every": 0},
        )
    except Learned:
        return steps[0]
    return math.inf


def learn_theirs(task, seed):
    """Returns the steps that sb3-contrib's agent took."""
    import torch
    from sb3_contrib import RecurrentPPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    plan, begun = TASKS[task], time.perf_counter()
    recent = Recent(plan["target"])

    class Stop(BaseCallback):
        def _on_step(self):
            for info in self.locals["infos"]:
                if "episode" in info:
                    recent.add(info["episode"]["r"])
            return time.perf_counter() - begun < PATIENCE

    name = task if task.startswith("popgym") else f"{task}-v0"
    model = RecurrentPPO(
        "MlpLstmPolicy",
        make_vec_env(f"freeproj.gymnasium:freeproj/{name}", 8, seed=seed),
        n_steps=32,
        batch_size=256,
        gae_lambda=0.8,
        gamma=0.98,
        n_epochs=20,
        learning_rate=lambda left: 1e-3 * left,
        clip_range=lambda left: 0.2 * left,
        policy_kwargs={
            "ortho_init": False,
            "activation_fn": torch.nn.ReLU,
            "lstm_hidden_size": 64,
            "enable_critic_lstm": True,
            "net_arch": [64],
        },
        seed=seed,
    )
    try:
        model.learn(plan["n_steps"], callback=Stop())
    except Learned:
        return model.num_timesteps
    return math.inf


def learned(who, task, cache="off"):
    """Steps and seconds of each seed, in a process with one thread."""
    env = {**SINGLE_THREAD, "FREEPROJ_CACHE": str(cache)}
    return json.loads(run(__file__, who, task, **env)[0].splitlines()[-1])


@pytest.fixture(scope="module")
def theirs_by_task():
    """What sb3-contrib needs, which takes minutes: each core has a task."""
    with ThreadPoolExecutor(n_cores()) as pool:
        found = pool.map(lambda task: learned("theirs", task), TASKS)
        return dict(zip(TASKS, found, strict=True))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("task", TASKS)
def test_time_to_learn(task, theirs_by_task, tmp_path):
    cold, warm = (learned("ours", task, tmp_path) for _ in range(2))
    theirs = theirs_by_task[task]
    for name, found in (("ours", cold), ("sb3-contrib", theirs)):
        print(f"\n{task}, {name}: steps {found['steps']}, seconds {found['seconds']}")
    first = theirs["seconds"][0]
    print(
        f"first seed: cold {cold['seconds'][0]:.1f} s, warm {warm['seconds'][0]:.1f} s"
    )
    middle = sorted(cold["steps"])[1] / sorted(theirs["steps"])[1]
    say(f"{task}, median steps to learn over sb3-contrib's", middle, "x", at_most=1)
    ratio = cold["seconds"][0] / first
    say(f"{task}, seconds with a cold start over sb3-contrib's", ratio, "x", at_most=1)


if __name__ == "__main__":
    who, task = sys.argv[1:]
    steps, seconds, before = [], [], BEGAN
    for seed in SEEDS:
        steps.append({"ours": learn_ours, "theirs": learn_theirs}[who](task, seed))
        seconds.append(round(time.perf_counter() - before, 1))
        before = time.perf_counter()
    print(json.dumps({"steps": steps, "seconds": seconds}))
