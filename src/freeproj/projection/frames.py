"""Frames: what an agent has seen, in coordinates that no projection can change.

A projection keeps inner products: x_t = M o_t with MᵀM = σ²I gives ⟨x_s, x_t⟩ =
σ²⟨o_s, o_t⟩ whatever M is. So each episode keeps an orthonormal frame, built by
Gram–Schmidt in the order in which directions appear, and the agent sees the coordinates
of x_t in it. They are the rows of the Cholesky factor of the Gram matrix of everything
seen so far, hence the same under every projection: the agent is invariant by
construction, not on average.

    c = Q x;  rest = x - Qᵀ c;  a new row rest/|rest| where |rest| is large enough

Large enough is more than `ROUNDING` |x| and more than a threshold of one's choice,
which delays a direction until it is seen clearly.

`see` needs inner products only. With the Gram matrix G = AᵀA of a linear map x = A o,
it works on o and on coefficients of the rows in terms of A: Q = W Aᵀ, c = W G o. That
is exact for every linear map, isometry or not, and costs k x d_obs instead of k x d.
`PlainFrame` is the same in NumPy, for other people's environments.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32, Int, Real

from freeproj.storage.checks import at_least

__all__ = ["ROUNDING", "Frame", "PlainFrame", "empty", "see"]

# A vector's rounding is 1e-7 of its norm, so a row made of this share of it is exact to
# 1e-5; less would make rows of rounding.
ROUNDING = 1e-2


class Frame(NamedTuple):
    """The directions met so far: the first `n_known` rows, zeros after them."""

    rows: Float[Array, "k d"]
    n_known: Int[Array, ""]


def empty(size: int, dim: int) -> Frame:
    """Return the frame of an episode that has shown nothing yet."""
    return Frame(jnp.zeros((size, dim)), jnp.zeros((), jnp.int32))


def see(
    frame: Frame,
    x: Float[Array, " d"],
    gram: Float[Array, "d d"] | None = None,
    threshold: float = 0.0,
) -> tuple[Float[Array, " slot"], Frame]:
    """Return k coordinates and what is left over, |rest|; and the frame after x.

    Args:
        gram: the Gram matrix of a linear map that x is seen through; None: no map.
        threshold: the norm that a direction must have to be kept as new.
    """
    seen, *following = _see(jnp, *frame, x, threshold, gram=gram)
    return seen, Frame(*following)


class PlainFrame:
    """The same frame in NumPy: `see` one vector after the other.

    Rows are kept in float64, so that all rounding is that of the vectors.

    Args:
        size: k, the number of directions that are kept.
        dim: d, the number of entries of a vector.
        threshold: the norm that a direction must have to be kept as new.
        batch: the leading axes of the vectors, each of which has its own frame.
    """

    def __init__(
        self, size: int, dim: int, threshold: float = 0.0, batch: tuple[int, ...] = ()
    ):
        at_least(1, size=size, dim=dim)
        at_least(0, threshold=threshold)
        self.threshold = threshold
        self.rows = np.zeros((*batch, size, dim))
        self.n_known = np.zeros(batch, np.int64)

    def clear(self, where: Bool[np.ndarray, "*batch"] | bool = True) -> None:
        """Forget all directions: a new episode begins, everywhere or at some places."""
        kept = ~np.broadcast_to(where, self.n_known.shape)
        self.rows = self.rows * kept[..., None, None]
        self.n_known = self.n_known * kept

    def see(
        self,
        x: Real[np.ndarray, "*batch d"],
        where: Bool[np.ndarray, "*batch"] | bool = True,
    ) -> Float32[np.ndarray, "*batch slot"]:
        """Return k coordinates and |rest|; keep new directions `where` it says."""
        seen, self.rows, self.n_known = _see(
            np, self.rows, self.n_known, np.float64(x), self.threshold, where=where
        )
        return seen.astype(np.float32)


def _see(
    xp, rows, n_known, x, threshold: float, gram=None, where: Any = True
) -> tuple[Any, Any, Any]:
    """Return what is seen and the frame after x, with JAX or NumPy as `xp`."""

    def dual(vector):
        return vector if gram is None else vector @ gram

    def split(vector):
        known = xp.matvec(rows, dual(vector))
        return known, vector - xp.vecmat(known, rows)

    def norm(vector):  # rounding may have made the square negative
        return xp.sqrt(xp.maximum(xp.vecdot(vector, dual(vector)), 0.0))

    known, rest = split(x)
    more, rest = split(rest)  # once more, for rounding
    length = norm(rest)
    least = xp.maximum(threshold, ROUNDING * norm(x))
    size = rows.shape[-2]
    is_new = (length > least) & (n_known < size) & where
    place = (xp.arange(size) == n_known[..., None]) & is_new[..., None]
    row = rest / xp.where(is_new, length, 1.0)[..., None]
    coordinates = xp.where(place, length[..., None], known + more)
    left_over = xp.where(is_new, 0.0, length)[..., None]
    rows = xp.where(place[..., None], row[..., None, :], rows)
    seen = xp.concatenate([coordinates, left_over], axis=-1)
    return seen, rows, n_known + is_new
