"""Several seeds of the same settings at once, by `vmap`: for accelerators.

One program updates all seeds, another tests them. On several devices each holds an
equal share of the seeds, as far as their number allows. Each seed gives the same run as
`train.train`, up to rounding. Seeds may start from different updates: those ahead
wait until the others have caught up. A seed that diverges is left where it was.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, PRNGKeyArray

from freeproj.learning import evaluate as testing
from freeproj.learning import train as one_seed
from freeproj.learning.config import TrainConfig
from freeproj.learning.train import DivergedError, TrainResult, TrainState, check_finite
from freeproj.storage.cache import compiled, use_cache

__all__ = ["train_seeds"]


def train_seeds(
    keys: Sequence[PRNGKeyArray],
    config: TrainConfig,
    *,
    states: Sequence[TrainState | None] = (),
    report: Callable[[int, TrainState, dict[str, Any]], None] = lambda *_: None,
    diverge: Callable[[int, DivergedError], None] = lambda *_: None,
) -> list[TrainResult | DivergedError]:
    """Train one agent for each key; return what came of each, in order.

    With `states` the runs resume from there; None starts one. `report` is called after
    each update with a seed's position, state and row of the log, `diverge` with the
    position and the error of a seed that diverges.
    """
    if config.stages:
        raise ValueError("Runs with `stages` are trained one by one, by `train`.")
    use_cache()
    pairs = zip(keys, states or [None] * len(keys), strict=True)
    begun = [one_seed.start(key, config) if old is None else old for key, old in pairs]
    state = _spread(_stacked(begun))
    step, test = _programs(config.program)
    ends: dict[int, DivergedError] = {}
    logs: list[list[dict[str, Any]]] = [[] for _ in keys]
    done = np.array(state.n_done)
    while np.any(done < config.n_updates):
        number = int(done.min()) + 1
        moving = done < number
        drawn = [one_seed.draw_params(key, config, number) for key in keys]
        params = _spread(_stacked(drawn))
        state, metrics = step(state, params, moving)
        if testing.is_tested(number, config):
            data = [testing.evaluation_inputs(key, number, config) for key in keys]
            found = test(state.agent, *_spread(_stacked(data)))
            metrics |= testing.named(found, config.test_maps, 1)
        metrics, singles = jax.device_get(metrics), _unstacked(state, len(keys))
        for i in map(int, np.flatnonzero(moving)):
            one = {name: values[i] for name, values in metrics.items()}
            try:
                check_finite(number, one)
                row = one_seed.log_row(number, one, config)
            except DivergedError as error:
                ends[i], done[i] = error, config.n_updates  # no more updates
                diverge(i, error)
            else:
                done[i] = number
                logs[i].append(row)
                report(i, singles[i], row)
    results = map(TrainResult, _unstacked(state.agent, len(keys)), logs)
    return [ends.get(i, result) for i, result in enumerate(results)]


@functools.lru_cache(maxsize=4)
def _programs(program: TrainConfig) -> tuple[Callable, Callable]:
    """Return update and test of all seeds, traced and compiled once."""
    step = jax.vmap(functools.partial(_update, config=program))
    tested = {"env": program.evaluation_env(), "plan": program.evaluation}
    test = jax.vmap(functools.partial(testing.run_evaluation, **tested))
    return compiled(step, donate_argnums=0), compiled(test)


def _update(state: TrainState, params, moving: Bool[Array, ""], config: TrainConfig):
    """Update a seed, or leave it as it is if it has to wait or has ended."""
    after, metrics = one_seed.update(state, params, config)
    kept = jax.tree.map(lambda new, old: jnp.where(moving, new, old), after, state)
    return kept, metrics


@jax.jit
def _stacked(trees: list[Any]) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def _spread(tree: Any) -> Any:
    """Lay seeds, the first axis of every leaf, over the devices of this process."""
    devices = jax.local_devices()
    shared = math.gcd(len(jax.tree.leaves(tree)[0]), len(devices))
    if shared == 1:
        return tree
    mesh = Mesh(np.array(devices[:shared]), ("seeds",))
    return jax.device_put(tree, NamedSharding(mesh, PartitionSpec("seeds")))


@functools.partial(jax.jit, static_argnums=1)
def _unstacked(tree: Any, n: int) -> list[Any]:
    return [jax.tree.map(lambda leaf, i=i: leaf[i], tree) for i in range(n)]
