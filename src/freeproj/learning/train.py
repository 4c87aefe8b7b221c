"""Recurrent PPO under random words: redraw bases, collect, learn, evaluate, repeat.

`train` is a Python loop over one compiled update. The matrices of all words are drawn
outside, as a function of the seed and the update's number, and given to the update as
data: one program serves every length, family and seed. Everything else that an update
needs is in `TrainState`: a run that resumes from a stored one is the same run, bit for
bit. (Appendices D.2, D.7.)
"""

import functools
import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.stages import Wrapped
from jaxtyping import Array, Bool, Int, PRNGKeyArray, PyTree

from freeproj.agents import ActorCritic
from freeproj.learning import evaluate as testing
from freeproj.learning import ppo
from freeproj.learning.config import NetworkConfig, TrainConfig
from freeproj.learning.learn import Batch, Metrics, learn, start_optimizer
from freeproj.learning.rollout import Rollout, RolloutState, collect, start_rollout
from freeproj.meta.episodes import MetaEnv
from freeproj.meta.inputs import MetaParams
from freeproj.storage.cache import compiled, compiled_once, use_cache
from freeproj.storage.threads import n_threads

__all__ = ["DivergedError", "TrainResult", "TrainState", "check_finite", "draw_params"]
__all__ += ["log_row", "seed_key", "start", "start_shapes", "train", "update"]

_Row = dict[str, Any]  # of the log


class TrainState(NamedTuple):
    """All that an update needs and changes."""

    agent: ActorCritic
    optimizer: PyTree
    rollout: RolloutState
    key: PRNGKeyArray
    n_done: Int[Array, ""]  # updates


class DivergedError(ArithmeticError):
    """Training gave a number that is not finite; the state before it is still good."""

    def __init__(self, update: int, quantity: str):
        super().__init__(update, quantity)  # as given, so that it can be pickled
        self.update, self.quantity = update, quantity

    def __str__(self) -> str:
        found = f"Diverged at update {self.update}: the {self.quantity} is not finite."
        way_out = "smaller `ppo.learning_rate` or `ppo.max_grad_norm` may help"
        return f"{found} A {way_out}; a task must pay finite rewards."


class TrainResult(NamedTuple):
    """A trained agent and one row of numbers for each update."""

    agent: ActorCritic
    log: list[_Row]

    def __repr__(self) -> str:
        last = ", ".join(
            f"{name.split('/')[1]} {f'{value:.2f}' if math.isfinite(value) else '–'}"
            for name, value in (self.log[-1] if self.log else {}).items()
            if name.startswith("test/") and name.endswith("episodes/episode_return")
        )
        return f"TrainResult({len(self.log)} updates; test {last or '– (not tested)'})"


def train(
    key: PRNGKeyArray,
    config: TrainConfig,
    *,
    state: TrainState | None = None,
    report: Callable[[TrainState, _Row], None] | None = None,
) -> TrainResult:
    """Train an agent; after each update call `report` with state and row of the log.

    With a `state` the run resumes from there instead of starting. Raise `DivergedError`
    at the first update that gives a number that is not finite.
    """
    use_cache()
    first = config.stage_configs[0]
    ready = _compile_ahead(key, first) if state is None else ()
    now = start(key, first) if state is None else state
    log, params, phase = [], None, None
    for number in range(int(now.n_done) + 1, config.n_updates + 1):
        place = config.stage_of(number)
        stage = config.stage_configs[place]
        if place != config.stage_of(number - 1) and number > 1:
            now = _next_stage(key, now, stage)
        step, test = _programs(stage.program)
        if (place, _draws_before(number, stage)) != phase:
            phase = place, _draws_before(number, stage)
            params = draw_params(key, stage, number)
        for job in ready[:1]:
            job.result()
        now, metrics = step(now, params)
        metrics = jax.device_get(metrics)
        check_finite(number, metrics)
        if testing.is_tested(number, config):
            for job in ready:
                job.result()
            found = test(now.agent, *testing.evaluation_inputs(key, number, stage))
            metrics |= testing.named(found, stage.test_maps)
        log.append(log_row(number, metrics, stage))
        if report is not None:
            report(now, log[-1])
    return TrainResult(now.agent, log)


def seed_key(seed: int) -> PRNGKeyArray:
    """Return the random key of a seed below 2^64: all of its bits count."""
    key = jax.random.key(seed % 2**32)
    return jax.random.fold_in(key, seed >> 32) if seed >> 32 else key


def draw_params(key: PRNGKeyArray, config: TrainConfig, number: int = 1) -> MetaParams:
    """Draw the matrices of the rollout of an update, a function of key and number."""
    draw = compiled_once(_draw, 2)
    return draw(key, _draws_before(number, config), config.training_env())


def start(key: PRNGKeyArray, config: TrainConfig) -> TrainState:
    """Draw an agent and the first episodes."""
    # Several small programs compile faster than a large one, and runs that differ in
    # other settings share them.
    key_agent, key_rollout, key_updates = compiled_once(_split, quick=True)(key)
    env = config.program.training_env()
    agent = compiled_once(_draw_agent, 1, 2, 3, 4, quick=True)(
        key_agent, env.input_size, env.action_space, config.memory, config.network
    )
    params = draw_params(key, config)
    begun = _begin(key_rollout, agent, params, config)
    return TrainState(agent, *begun, key_updates, jnp.asarray(0))


def _begin(key, agent: ActorCritic, params, config: TrainConfig):
    """Return the optimiser's state before learning, and new episodes."""
    program = config.program
    optimizer = compiled_once(start_optimizer, 1, quick=True)(agent, program)
    begin = compiled_once(start_rollout, 1, 4, quick=True)
    return optimizer, begin(key, program.training_env(), params, agent, config.n_envs)


@functools.lru_cache(maxsize=16)
def start_shapes(config: TrainConfig) -> tuple[TrainState, MetaParams]:
    """Return what `start` and `draw_params` return, shapes without values."""

    def both(key: PRNGKeyArray) -> tuple[TrainState, MetaParams]:
        return start(key, config), draw_params(key, config)

    return jax.eval_shape(both, jax.random.key(0))


def _next_stage(key: PRNGKeyArray, state: TrainState, stage: TrainConfig) -> TrainState:
    """Begin new episodes under other settings; the agent stays, Adam starts anew."""
    number = int(state.n_done) + 1
    key_rollout = jax.random.fold_in(jax.random.fold_in(key, 0x57A6E), number)
    params = draw_params(key, stage, number)
    optimizer, rollout = _begin(key_rollout, state.agent, params, stage)
    return state._replace(optimizer=optimizer, rollout=rollout)


def update(
    state: TrainState, params: MetaParams, config: TrainConfig
) -> tuple[TrainState, Metrics]:
    """Collect a rollout under these matrices and learn from it; compilable."""
    key, key_restart, key_collect, key_learn = jax.random.split(state.key, 4)
    env = config.training_env()
    before = _redrawn(key_restart, state, params, config)
    after, rollout, last_value = collect(
        key_collect, env, params, state.agent, before, config.n_steps
    )
    played = rollout.reward, rollout.value, last_value, rollout.done
    estimates = ppo.advantages(*played, config.ppo.discount, config.ppo.gae_lambda)
    batch = Batch(rollout, estimates, before.memory)
    agent, optimizer, losses = learn(
        key_learn, state.agent, state.optimizer, batch, env, config
    )
    metrics = {**_returns(rollout, env, config.n_envs), **losses}
    metrics["finite"] = _finite(rollout, losses, agent)
    return TrainState(agent, optimizer, after, key, state.n_done + 1), metrics


def _draws_before(number: int, config: TrainConfig) -> int:
    """Count the draws of matrices before the rollout of an update."""
    return (number - 1) // config.redraw_every if config.redraw_every else 0


def check_finite(number: int, metrics: _Row) -> None:
    """Remove the flags from the metrics of an update; raise at the first not set."""
    for quantity, finite in zip(_QUANTITIES, metrics.pop("finite"), strict=True):
        if not finite:
            raise DivergedError(number, quantity)


def log_row(number: int, metrics: _Row, config: TrainConfig) -> _Row:
    """Return an update's row of the log, as plain numbers.

    A mean return that is not finite although episodes ended counts as a divergence.
    """
    steps = number * config.n_envs * config.n_steps
    values = jax.tree.map(lambda leaf: leaf.tolist(), metrics)
    for name, value in values.items():
        prefix, _, last = name.rpartition("/")
        is_mean = last == "episode_return" and values[f"{prefix}/n_finished"]
        if is_mean and not math.isfinite(value):
            raise DivergedError(number, f"return ({prefix})")
    return {"update": number, "steps": steps, **values}


@functools.lru_cache(maxsize=4)
def _programs(program: TrainConfig) -> tuple[Wrapped, Wrapped]:
    """Return update and test, compiled once for all runs that share programs."""
    step = compiled(functools.partial(update, config=program), donate_argnums=0)
    tested = {"env": program.evaluation_env(), "plan": program.evaluation}
    return step, compiled(functools.partial(testing.run_evaluation, **tested))


def _compile_ahead(key: PRNGKeyArray, config: TrainConfig) -> tuple[Future, Future]:
    """Compile update and test in two threads, while the run starts in this one.

    With one core, or where the first test is far off, they are compiled when called.
    """
    later: Future = Future()
    later.set_result(None)
    if n_threads() == 1:
        return later, later
    state, params = start_shapes(config)
    step, test = _programs(config.program)
    pool = ThreadPoolExecutor(2)  # XLA compiles without Python's lock
    update = pool.submit(lambda: step.lower(state, params).compile())
    if testing.is_tested(1, config):
        data = jax.eval_shape(lambda: testing.evaluation_inputs(key, 1, config))
        later = pool.submit(lambda: test.lower(state.agent, *data).compile())
    pool.shutdown(wait=False)
    return update, later


def _draw_agent(key, n_inputs, space, memory: str, network: NetworkConfig):
    return ActorCritic.create(key, n_inputs, space, memory, **asdict(network))


def _draw(key: PRNGKeyArray, n_before: Any, env: MetaEnv) -> MetaParams:
    stream = jax.random.fold_in(key, 0xBA5E)
    return env.draw_params(jax.random.fold_in(stream, n_before))


def _split(key: PRNGKeyArray) -> tuple[PRNGKeyArray, ...]:
    return tuple(jax.random.split(key, 3))


def _redrawn(key, state: TrainState, params, config: TrainConfig) -> RolloutState:
    """Apply new matrices to unfinished episodes, as `running_episodes` says."""
    before, env = state.rollout, config.training_env()
    if config.running_episodes == "rematch":
        moved = jax.vmap(env.with_params, in_axes=(0, 0, None))
        inputs, episodes = moved(before.inputs, before.episodes, params)
        return before._replace(inputs=inputs, episodes=episodes)
    if config.running_episodes == "restart" and config.redraw_every:
        is_time = (state.n_done > 0) & (state.n_done % config.redraw_every == 0)
        fresh = start_rollout(key, env, params, state.agent, config.n_envs)
        return jax.tree.map(lambda a, b: jnp.where(is_time, a, b), fresh, before)
    return before


def _returns(rollout: Rollout, env: MetaEnv, n_envs: int) -> Metrics:
    """Mean return of the episodes that ended; by task too where there are several."""
    metrics = {"train/n_unfinished": jnp.asarray(n_envs)}
    chosen = {"train": rollout.done}
    if len(env.tasks) > 1:
        for index, task in enumerate(env.tasks):
            chosen[f"train/{task.name}"] = rollout.done & (rollout.task == index)
    for prefix, ended in chosen.items():
        total, count = jnp.where(ended, rollout.finished_return, 0).sum(), ended.sum()
        # Zero divided by zero: no data is nan.
        metrics[f"{prefix}/episode_return"] = total / count
        metrics[f"{prefix}/n_finished"] = count
    return metrics


_QUANTITIES = ("reward", "loss", "gradient", "weights")


def _finite(rollout: Rollout, losses: Metrics, agent: ActorCritic) -> Bool[Array, "4"]:
    """Flag which of `_QUANTITIES` are finite."""
    loss = (losses["loss/policy"], losses["loss/value"])
    parts = (rollout.reward, loss, losses["loss/gradient_norm"], agent)
    flags = [[jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(p)] for p in parts]
    return jnp.stack([jnp.stack(each).all() for each in flags])
