"""What the adapters of the projection cost in other people's loops, as ratios.

    python -m pytest benchmarks/test_adapters_speed.py -n 0 -s

They run in a process of their own: even switched off, checks of types cost more than a
step.
"""

import pickle
import time
import timeit

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from threadpoolctl import threadpool_limits
from timing import adopt, run, say

from freeproj import FreeProjection
from freeproj.adapters.gymnasium import ProjectObservation, ProjectVectorObservation

LAW = FreeProjection.with_words(256, length=4)
SPACE = gym.spaces.Box(-1, 1, (4,), np.float32)


def microseconds(work, number=100, repeats=100):
    work()
    return 1e6 * min(timeit.repeat(work, number=number, repeat=repeats)) / number


class Still(gym.Env):
    """An environment that costs nothing."""

    observation_space, action_space = SPACE, gym.spaces.Discrete(2)
    shown = np.ones(4, np.float32)

    def reset(self, *, seed=None, options=None):
        return self.shown, {}

    def step(self, action):
        return self.shown, 0.0, False, False, {}


class StillVector(VectorEnv):
    """Many environments that cost nothing."""

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, n_envs=64):
        self.num_envs = n_envs
        self.single_observation_space = SPACE
        self.observation_space = batch_space(SPACE, n_envs)
        self.single_action_space = gym.spaces.Discrete(2)
        self.action_space = batch_space(self.single_action_space, n_envs)
        self.shown, self.none = np.ones((n_envs, 4), np.float32), np.zeros(n_envs)
        self.never = np.zeros(n_envs, bool)

    def reset(self, *, seed=None, options=None):
        return self.shown, {}

    def step(self, actions):
        return self.shown, self.none, self.never, self.never, {}


def test_adapters():
    adopt(run(__file__)[0])


def measure_one_environment():
    bare, seen = Still(), ProjectObservation(Still(), LAW, seed=0)
    seen.reset()
    over = microseconds(lambda: seen.step(0)) - microseconds(lambda: bare.step(0))
    say(
        "ProjectObservation, a step over the bare environment's", over, " µs", at_most=3
    )
    over = microseconds(seen.reset) - microseconds(bare.reset)
    say(
        "ProjectObservation, a new episode over the bare one's", over, " µs", at_most=15
    )


def measure_sixty_four_environments():
    bare, seen = StillVector(), ProjectVectorObservation(StillVector(), LAW, seed=0)
    seen.reset()
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((64, 128, 4)).astype(np.float32)
    rows = rng.standard_normal((64, 4, 1)).astype(np.float32)
    over = microseconds(lambda: seen.step(None)) - microseconds(lambda: bare.step(None))
    product = microseconds(lambda: np.matmul(matrices, rows))
    say(
        "ProjectVectorObservation over a batched product",
        over / product,
        "x",
        at_most=2,
    )


def measure_torch(batch):
    import torch

    from freeproj.adapters.torch import FreeProjectionLayer

    torch.set_num_threads(1)
    layer = FreeProjectionLayer(4, LAW, seed=0)
    linear = torch.nn.Linear(4, 128, bias=False).requires_grad_(False)
    x, words = torch.randn(batch, 4), layer.sample_words(batch)
    number = 100 if batch < 4096 else 5
    plain = microseconds(lambda: linear(x), number)
    one = microseconds(lambda: layer(x), number)
    each = microseconds(lambda: layer(x, words), number)
    say(f"torch layer beside nn.Linear, batch {batch}", one / plain, "x", at_most=1.3)
    say(f"... with a word for each row, batch {batch}", each / plain, "x")


def measure_fitting():
    from sklearn.random_projection import GaussianRandomProjection

    from freeproj.adapters.sklearn import FreeRandomProjection

    X = np.random.default_rng(0).standard_normal((100, 2000))

    def seconds(make):
        times = []
        for seed in range(15):
            model = make(seed)
            start = time.perf_counter()
            model.fit(X)
            times.append(time.perf_counter() - start)
        return min(times)

    gaussian = seconds(lambda seed: GaussianRandomProjection(128, random_state=seed))
    free = seconds(lambda seed: FreeRandomProjection(128, 4, 4, random_state=seed))
    model = FreeRandomProjection(128, 4, 4, random_state=0).fit(X)
    size = len(pickle.dumps(model)) / model.components_.nbytes
    say("scikit-learn pickle over its components", size, "x", at_most=1.1)
    say("scikit-learn fit, d = 2000, k = 128, ℓ = 4", free / gaussian, "x", at_most=10)


if __name__ == "__main__":
    with threadpool_limits(1):
        measure_one_environment()
        measure_sixty_four_environments()
        for size in (1, 64, 4096):
            measure_torch(size)
        measure_fitting()
