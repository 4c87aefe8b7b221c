"""What surrounds the PPO epochs, at the paper's shapes: playing, memory, starting.

    python -m pytest benchmarks/test_training_speed.py -n 0 -s

Epochs themselves are measured in `test_agents_speed.py`.
"""

import functools
import subprocess
import sys
import time

import jax
import pytest
from timing import best

from freeproj.evaluation import evaluate_in
from freeproj.experiments.settings import read_config
from freeproj.rollout import collect
from freeproj.training import start, update

ONE_EPOCH = {"ppo.n_epochs": 1}


@pytest.mark.parametrize("memory", ["gru", "s5"])
def test_playing_against_an_epoch(memory):
    config = read_config("paper", {"memory": memory, **ONE_EPOCH})
    key = jax.random.key(0)
    state = jax.jit(start, static_argnums=1)(key, config)
    train_env, test_env = config.training_env(), config.evaluation_env()

    @jax.jit
    def play(state):
        return collect(
            key, train_env, state.params, state.agent, state.play, config.n_steps
        )

    @functools.partial(jax.jit, static_argnums=1)
    def test(agent, episodes):
        plan = config.evaluation
        return evaluate_in(key, agent, test_env, plan.n_envs, plan.n_steps, episodes)

    collecting = best(play, state, repeats=3)
    window = best(lambda: test(state.agent, False), repeats=3)
    episodes = best(lambda: test(state.agent, True), repeats=3)
    whole = best(jax.jit(functools.partial(update, config=config)), state, repeats=3)
    epoch = whole - collecting
    print(f"\n{memory}: an epoch takes {epoch:.2f} s")
    say("collecting 65,536 steps, in epochs", collecting / epoch, 1.5)
    say("evaluating a window, in collections", window / collecting, 1.0)
    say("the same, then on to every first end", episodes / collecting, 1.0)


def test_peak_memory_of_a_run():
    used = float(run("paper run", TRAIN_TWICE))
    empty = float(run("bare import", JAX_ONLY).split()[0])
    print(f"\nbare JAX holds {empty:.2f} GiB")
    say("GiB at the peak of a GRU run", used, 1.5)


def test_second_start(tmp_path):
    arguments = [str(tmp_path)]
    first = float(run("first start", READY_TO_UPDATE, *arguments))
    second = float(run("second start", READY_TO_UPDATE, *arguments))
    bare = float(run("bare import", JAX_ONLY).split()[1])
    print(f"\nuntil the first update can begin: {first:.1f} s, then {second:.1f} s")
    say("seconds beyond a bare JAX import", second - bare, 15)


# What a fresh process does; the last line that it prints is the answer. VmHWM is the
# peak of this program; `resource` would begin with that of the process that started it.
JAX_ONLY = """
import pathlib, time
began = time.perf_counter()
import jax
jax.numpy.zeros(1).block_until_ready()
seconds = time.perf_counter() - began
status = pathlib.Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) / 2**20, seconds)
"""
TRAIN_TWICE = """
import pathlib, jax
import freeproj as fp
from freeproj.experiments.settings import read_config
fp.train(jax.random.key(0), read_config("paper", {"n_updates": 2, "ppo.n_epochs": 1}))
status = pathlib.Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) / 2**20)
"""
READY_TO_UPDATE = """
import functools, os, sys, time
began = time.perf_counter()
os.environ["FREEPROJ_CACHE"] = sys.argv[1]
import jax
from freeproj.cache import use_cache
from freeproj.experiments.settings import read_config
from freeproj.training import start, update
use_cache()
config = read_config("paper")
state = jax.jit(start, static_argnums=1)(jax.random.key(0), config)
step = jax.jit(functools.partial(update, config=config), donate_argnums=0)
step.lower(state).compile()
print(time.perf_counter() - began)
"""


def run(what, program, *arguments):
    """Runs a program in a process of its own and returns its last line."""
    command = [sys.executable, "-c", program, *arguments]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{what}: {done.stderr}"
    print(f"\n{what}: {time.perf_counter() - began:.1f} s as a whole")
    return done.stdout.splitlines()[-1]


def say(what, measured, target):
    verdict = "PASS" if measured <= target else "ABOVE"
    print(f"  {what}: {measured:.2f} (at most {target}: {verdict})")
