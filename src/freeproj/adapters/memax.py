"""memax's memories in our agents: `memory = "freeproj.adapters.memax:LRU"`.

Each of `n_layers` layers is a memory of memax followed by S5's gated unit,

    out = u + (h W_1 + b_1) ⊙ σ(h W_2 + b_2),

where h is what the memory returns for the rows u. memax (the extra `memax`) is
imported when a memory is made.
"""

import importlib
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

__all__ = ["FART", "FFM", "LRU", "S6", "DeltaNet", "MemaxLayer", "MemaxMemory"]

_Rows = Float[Array, "time batch size"]
_Resets = Bool[Array, "time batch"]
_Ran = tuple[_Rows, PyTree]  # outputs, and the state after them


class MemaxLayer(eqx.Module):
    """One memory of memax, its arrays apart from its fixed numbers and functions."""

    arrays: PyTree
    fixed: Any = eqx.field(static=True)
    weight: Float[Array, "size twice"]  # [W_1, W_2]
    bias: Float[Array, " twice"]

    @classmethod
    def create(cls, key: PRNGKeyArray, size: int, made: Callable) -> "MemaxLayer":
        """Draw the weights; `made(key)` returns memax's module."""
        key_memory, key_unit = jax.random.split(key)
        arrays, fixed = eqx.partition(made(key_memory), eqx.is_array)
        weight = jax.nn.initializers.lecun_normal()(key_unit, (size, 2 * size))
        return cls(arrays, fixed, weight, jnp.zeros(2 * size))

    @property
    def module(self) -> Any:
        """The module of memax."""
        return eqx.combine(self.arrays, self.fixed)

    def sequence(self, xs: _Rows, state: PyTree, resets: _Resets) -> _Ran:
        """Return the outputs of all steps and the last state."""
        module = self.module

        def one(rows: Array, carry: PyTree, starts: Array) -> tuple[Array, PyTree]:
            states, out = module(carry, (rows, starts))
            return out, module.latest_recurrent_state(states)

        h, last = jax.vmap(one, in_axes=(1, 0, 1), out_axes=(1, 0))(xs, state, resets)
        rows = h.reshape(-1, h.shape[-1])
        linear, gate = jnp.split(rows @ self.weight + self.bias, 2, axis=-1)
        out = linear * jax.nn.sigmoid(gate)
        return xs + out.reshape(xs.shape), last


class MemaxMemory(eqx.Module):
    """A stack of layers; the state is a tuple with memax's own for each."""

    layers: tuple[MemaxLayer, ...]

    def initial_state(self, n_envs: int) -> tuple[PyTree, ...]:
        """Return empty memories."""
        empty = tuple(layer.module.initialize_carry() for layer in self.layers)
        return jax.tree.map(lambda leaf: jnp.repeat(leaf[None], n_envs, axis=0), empty)

    def step(
        self, x: Float[Array, "batch size"], state: PyTree, reset: Bool[Array, " batch"]
    ) -> tuple[Float[Array, "batch size"], PyTree]:
        """Return output and next memory; empty it first where `reset` is set."""
        out, state = self.sequence(x[None], state, reset[None])
        return out[0], state

    def sequence(self, xs: _Rows, state: PyTree, resets: _Resets) -> _Ran:
        """Return what repeated `step` would: all outputs, and the last memory."""
        following = []
        for layer, own in zip(self.layers, state, strict=True):
            xs, last = layer.sequence(xs, own, resets)
            following.append(last)
        return xs, tuple(following)


def LRU(key: PRNGKeyArray, size: int, *, n_layers: int = 2, **_: Any) -> MemaxMemory:
    """Return memax's Linear Recurrent Unit (Orvieto et al. 2023)."""
    return _made("lru:LRU", key, size, n_layers, recurrent_size=size)


def S6(key: PRNGKeyArray, size: int, *, n_layers: int = 2, **_: Any) -> MemaxMemory:
    """Return memax's selective state space model (Gu and Dao 2023)."""
    return _made("s6:S6", key, size, n_layers, recurrent_size=size)


def FFM(key: PRNGKeyArray, size: int, *, n_layers: int = 2, **_: Any) -> MemaxMemory:
    """Return memax's Fast and Forgetful Memory (Morad et al. 2023)."""
    sizes = {"trace_size": 4, "context_size": max(size // 4, 1)}
    return _made("ffm:FFM", key, size, n_layers, **sizes)


def FART(key: PRNGKeyArray, size: int, *, n_layers: int = 2, **_: Any) -> MemaxMemory:
    """Return memax's linear attention (Katharopoulos et al. 2020)."""
    root = max(round(size**0.5), 1)
    return _made("fart:FART", key, size, n_layers, recurrent_size=root)


def DeltaNet(
    key: PRNGKeyArray, size: int, *, n_layers: int = 2, **_: Any
) -> MemaxMemory:
    """Return memax's DeltaNet (Schlag et al. 2021)."""
    root = max(round(size**0.5), 1)
    return _made("delta:DeltaNet", key, size, n_layers, recurrent_size=root)


def _made(
    place: str, key: PRNGKeyArray, size: int, n_layers: int, **sizes: int
) -> MemaxMemory:
    module, _, name = place.partition(":")
    try:
        home = importlib.import_module(f"memax.equinox.semigroups.{module}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"The memory freeproj.adapters.memax:{name} needs memax: "
            "pip install 'freeproj[memax]'."
        ) from error

    def made(key: PRNGKeyArray) -> Any:
        return getattr(home, name)(hidden_size=size, key=key, **sizes)

    keys = jax.random.split(key, n_layers)
    return MemaxMemory(tuple(MemaxLayer.create(each, size, made) for each in keys))
