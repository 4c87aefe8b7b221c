"""Random keys and actions for the tests of tasks.

They come from NumPy: drawing them with JAX would compile a program for every shape, and
checking indices inside one takes many seconds.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

# For programs that run once: compiling them well would take longer than running them.
quick_jit = functools.partial(
    jax.jit, compiler_options={"xla_backend_optimization_level": 0}
)


def draw_keys(shape, seed=0):
    """Independent keys of any shape."""
    rng = np.random.default_rng(seed)
    words = rng.integers(2**32, size=(*shape, 2), dtype=np.uint32)
    return jax.random.wrap_key_data(jnp.asarray(words))


def draw_actions(env, n_trials, n_steps, seed=0):
    """Uniform actions; a fifth of the continuous ones lie beyond the bounds."""
    rng = np.random.default_rng(seed)
    if hasattr(env.action_space, "n"):
        return rng.integers(env.action_space.n, size=(n_trials, n_steps), dtype="int32")
    high = 1.25 * np.array(env.action_space.high, np.float32)
    shape = (n_trials, n_steps, env.action_space.size)
    return rng.uniform(-high, high, size=shape).astype(np.float32)
