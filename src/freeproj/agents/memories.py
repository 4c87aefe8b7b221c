"""Memories by name, and the interface of a memory.

A memory is a module of arrays, made by `maker(key, size, **settings)`: `size` is the
width of its inputs and outputs, `settings` are the other settings of the network
(`n_layers`, `state_size`, `window`, `clip_eigenvalues`), of which it uses those that it
needs. Its state is any tree of arrays whose first axes count the environments. A name
in the settings is one of `MEMORIES`, or `module:attribute` of your own maker.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from freeproj.agents.gated import GRU, LSTM
from freeproj.agents.linear import S5, MinGRU
from freeproj.agents.transformer import Transformer
from freeproj.storage.names import Registry

__all__ = ["MEMORIES", "Memory", "make_memory"]

_Steps = Float[Array, "time batch size"]


@runtime_checkable
class Memory(Protocol):
    """Interface of a memory, batched over environments; sequences are time-major."""

    def initial_state(self, n_envs: int) -> PyTree:
        """Return empty memories."""
        ...

    def step(
        self, x: Float[Array, "batch size"], state: PyTree, reset: Bool[Array, " batch"]
    ) -> tuple[Float[Array, "batch size"], PyTree]:
        """Return output and next memory; empty it first where `reset` is set."""
        ...

    def sequence(
        self, xs: _Steps, state: PyTree, resets: Bool[Array, "time batch"]
    ) -> tuple[_Steps, PyTree]:
        """Return what repeated `step` would: all outputs, and the last memory."""
        ...


MEMORIES: Registry[Callable[..., Memory]] = Registry("memory")
MEMORIES.add("gru", lambda key, size, **_: GRU.create(key, size, size))
MEMORIES.add("s5", S5.create)
MEMORIES.add("lstm", lambda key, size, **_: LSTM.create(key, size, size))
MEMORIES.add("mingru", MinGRU.create)
MEMORIES.add("transformer", Transformer.create)


def make_memory(key: PRNGKeyArray, name: str, size: int, **settings: Any) -> Memory:
    """Draw the memory of a name, with inputs and outputs of `size` entries."""
    maker = MEMORIES.resolve(name)
    if not callable(maker):
        raise ValueError(f"The memory {name!r} must be a class or a function.")
    memory = maker(key, size, **settings)
    if not isinstance(memory, Memory):
        raise ValueError(
            f"The memory {name!r} must have initial_state, step and sequence; "
            f"{type(memory).__name__} lacks one of them."
        )
    return memory
