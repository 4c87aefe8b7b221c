"""What surrounds the PPO epochs: playing, small networks, memory, starting.

    python -m pytest benchmarks/test_training_speed.py -n 0 -s

Epochs at the paper's shapes are measured in `test_agents_speed.py`. Fractions are of
the rate of a float32 product, measured in turns with the work.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import pytest
from test_agents_speed import PEAK_SIZE, flops_of_sample, product
from timing import adopt, in_turns, run, say

from freeproj.experiments.settings import read_config
from freeproj.learning import ppo
from freeproj.learning.evaluate import evaluation_inputs, run_evaluation
from freeproj.learning.learn import Batch, learn
from freeproj.learning.rollout import collect
from freeproj.learning.train import draw_params, start
from freeproj.storage.threads import SINGLE_THREAD

KEY = jax.random.key(0)
# Fraction of the product's rate that collecting is asked for. S5 has no target: its own
# products alone, one step after the other, reach less than half of that rate.
TARGETS = {"gru": 0.54}


@pytest.mark.parametrize("memory", ["gru", "s5"])
def test_playing_against_its_products(memory):
    settings = {"memory": memory, "evaluation.episodes": False}
    config = read_config("paper", settings)
    state, params = start(KEY, config), draw_params(KEY, config)
    of, plan = config.program.evaluation_env(), config.program.evaluation
    test = jax.jit(functools.partial(run_evaluation, env=of, plan=plan))
    data = evaluation_inputs(KEY, 1, config)
    seconds = in_turns(
        {
            "collect": lambda: player(config)(params, state),
            "evaluate": lambda: test(state.agent, *data),
            "products": lambda: products(state.agent, config.n_envs, config.n_steps),
            "peak": peak_product,
        },
        repeats=3,
    )
    n_played = config.n_envs * config.n_steps
    fraction = (
        n_played * forward_flops(state.agent) / seconds["collect"] / rate(seconds)
    )
    what = f"{memory} collection, fraction of the product's rate"
    say(what, fraction, at_least=TARGETS.get(memory))
    alone = seconds["products"] / seconds["collect"]
    say(f"{memory} collection, of its products alone in a loop", alone, at_least=0.55)
    n_tested = len(config.test_maps) * config.evaluation.n_envs
    same = seconds["evaluate"] / seconds["collect"] * config.n_envs / n_tested
    say(f"{memory}, a step of evaluation over one of collection", same, "x", at_most=1)


def test_frames_against_an_ordinary_rollout():
    ordinary = read_config("laptop")
    framed = dataclasses.replace(ordinary, encoder="frame")
    seconds = in_turns(
        {
            name: functools.partial(
                player(config), draw_params(KEY, config), start(KEY, config)
            )
            for name, config in (("ordinary", ordinary), ("framed", framed))
        }
    )
    what = "a rollout of frames over an ordinary one"
    say(what, seconds["framed"] / seconds["ordinary"], "x", at_most=1.3)


def test_learning_of_small_networks():
    """On one core, with one thread."""
    adopt(run(__file__, **SINGLE_THREAD)[0])


def measure_laptop():
    config = read_config("laptop")
    state, params = start(KEY, config), draw_params(KEY, config)
    env, plan = config.training_env(), config.ppo
    _, rollout, last_value = player(config)(params, state)
    estimates = ppo.advantages(
        rollout.reward,
        rollout.value,
        last_value,
        rollout.done,
        plan.discount,
        plan.gae_lambda,
    )
    batch = Batch(rollout, estimates, state.rollout.memory)
    teach = jax.jit(functools.partial(learn, env=env, config=config))
    seconds = in_turns(
        {
            "learn": lambda: teach(KEY, state.agent, state.optimizer, batch),
            "peak": peak_product,
        }
    )
    n_samples = plan.n_epochs * config.n_envs * config.n_steps
    flops = n_samples * flops_of_sample(state.agent)
    fraction = flops / seconds["learn"] / rate(seconds)
    say("learning of `laptop`, fraction of one core's", fraction, at_least=0.65)


def test_peak_memory_of_a_run():
    used, empty = (float(run("-c", code)[0]) for code in (TRAIN_TWICE, JAX_ONLY))
    print(f"\nbare JAX holds {empty:.2f} GiB", end="")
    say("peak of a GRU run", used, " GiB", at_most=1.5)


def test_second_start(tmp_path):
    first, second = (
        float(run("-c", READY_TO_UPDATE, FREEPROJ_CACHE=str(tmp_path))[0])
        for _ in range(2)
    )
    print(f"\nuntil the first update can begin: {first:.1f} s, then {second:.1f} s")
    say("a second start over the first", second / first, "x", at_most=0.5)


# What a fresh process does; what it prints is the answer. VmHWM is the peak of this
# program; `resource` would begin with that of the process that started it.
PEAK_MEMORY = """
import pathlib
status = pathlib.Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) / 2**20)
"""
JAX_ONLY = f"""
import jax
jax.numpy.zeros(1).block_until_ready()
{PEAK_MEMORY}
"""
TRAIN_TWICE = f"""
import jax
import freeproj as fp
from freeproj.experiments.settings import read_config
fp.train(jax.random.key(0), read_config("paper", {{"n_updates": 2, "ppo.n_epochs": 1}}))
{PEAK_MEMORY}
"""
READY_TO_UPDATE = """
import functools, time
began = time.perf_counter()
import jax
from freeproj.storage.cache import use_cache
from freeproj.experiments.settings import read_config
from freeproj.learning.train import draw_params, start, update
use_cache()
key, config = jax.random.key(0), read_config("paper")
state, params = start(key, config), draw_params(key, config)
step = jax.jit(functools.partial(update, config=config.program), donate_argnums=0)
step.lower(state, params).compile()
print(time.perf_counter() - began)
"""


@functools.cache
def player(config):
    """A compiled collection under the settings."""
    env = config.training_env()

    @jax.jit
    def play(params, state):
        return collect(KEY, env, params, state.agent, state.rollout, config.n_steps)

    return play


@functools.partial(jax.jit, static_argnums=(1, 2))
def products(agent, n_rows, n_steps):
    """The products of a forward pass and nothing else, one step after the other."""
    weights = [leaf for leaf in jax.tree.leaves(agent) if leaf.ndim == 2]
    rows = {len(weight): jnp.ones((n_rows, len(weight))) for weight in weights}

    def step(total, _):
        # Each product waits for the one before, as layers do.
        for weight in weights:
            total = 1e-9 * jnp.sum((rows[len(weight)] + total) @ weight)
        return total, None

    return jax.lax.scan(step, jnp.zeros(()), None, length=n_steps)[0]


def forward_flops(agent):
    return 2 * sum(leaf.size for leaf in jax.tree.leaves(agent) if leaf.ndim == 2)


@functools.cache
def square():
    return jax.random.normal(KEY, (PEAK_SIZE, PEAK_SIZE))


def peak_product():
    return product(square(), square())


def rate(seconds):
    return 2 * PEAK_SIZE**3 / seconds["peak"]


if __name__ == "__main__":
    measure_laptop()
