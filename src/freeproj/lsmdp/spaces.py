"""State spaces: a connected graph, its passive random walk, and a goal.

From a vertex the passive dynamics moves to a neighbour, all equally likely, and never
stays. `lattice` and `binary_tree` are by default the paper's two spaces. The goal is
the vertex of zero cost. (Section 4.4 and appendix E of the paper.)
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

__all__ = ["StateSpace", "binary_tree", "graph", "lattice"]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A connected graph with a goal; build it with `lattice`, `binary_tree`, `graph`.

    `positions` are coordinates for drawing; no result depends on them.
    """

    name: str
    adjacency: Bool[np.ndarray, "d d"]
    goal: int
    positions: Float[np.ndarray, "d 2"]

    def __post_init__(self) -> None:
        n_parts, part = connected_components(self.adjacency, directed=False)
        if n_parts > 1:
            stranded = int(np.flatnonzero(part != part[0])[0])
            text = f"The graph must be connected, but it falls into {n_parts} parts:"
            raise ValueError(f"{text} no way leads from vertex 0 to vertex {stranded}.")
        if not 0 <= self.goal < self.n_states:
            last = self.n_states - 1
            raise ValueError(f"`goal` must be a vertex in 0..{last}, got {self.goal}.")
        for array in (self.adjacency, self.positions):
            array.setflags(write=False)

    @property
    def n_states(self) -> int:
        """Return the number of vertices, the paper's d."""
        return len(self.adjacency)

    @property
    def degrees(self) -> Int[np.ndarray, " d"]:
        """Return the number of neighbours of every vertex."""
        return self.adjacency.sum(axis=1)

    @property
    def edges(self) -> Int[np.ndarray, "edges 2"]:
        """Return every edge once, its smaller vertex first."""
        return np.argwhere(np.triu(self.adjacency))

    def passive(self, absorbing: bool = False) -> Float[np.ndarray, "d d"]:
        """Return p(s'|s), row s; with `absorbing` the goal is never left."""
        walk = self.adjacency / self.degrees[:, None]
        if absorbing:
            walk[self.goal] = np.eye(self.n_states)[self.goal]
        return walk


def lattice(rows: int = 4, columns: int = 4) -> StateSpace:
    """Return a rectangle of vertices row by row, neighbours side by side."""
    if rows < 1 or columns < 1 or rows * columns < 2:
        rule = "must be at least 1 and give two vertices or more"
        raise ValueError(f"`rows` and `columns` {rule}, got {rows} x {columns}.")
    row, column = np.divmod(np.arange(rows * columns), columns)
    apart = abs(row[:, None] - row) + abs(column[:, None] - column)
    positions = np.column_stack([column, -row]).astype(float)
    last = rows * columns - 1
    return StateSpace(f"{rows} x {columns} lattice", apart == 1, last, positions)


def binary_tree(depth: int = 3) -> StateSpace:
    """Return the complete binary tree with 2^(depth+1) - 1 vertices, in heap order.

    The root is 0, the children of i are 2i+1 and 2i+2; depth 0 would have no edge.
    """
    if not 1 <= depth <= 12:
        raise ValueError(f"`depth`, from root to leaf, must lie in 1..12, got {depth}.")
    n_states = 2 ** (depth + 1) - 1
    child = np.arange(1, n_states)
    parent = (child - 1) // 2
    adjacency = np.zeros((n_states, n_states), dtype=bool)
    adjacency[child, parent] = adjacency[parent, child] = True
    level = np.log2(np.arange(1, n_states + 1)).astype(int)
    place = np.arange(1, n_states + 1) - 2.0**level
    spread = 2.0 ** (depth - level)
    positions = np.column_stack([(place + 0.5) * spread - 0.5, -level])
    name = f"binary tree of {n_states} vertices"
    return StateSpace(name, adjacency, n_states - 1, positions)


def graph(
    adjacency: ArrayLike,
    *,
    goal: int | None = None,
    positions: Float[np.ndarray, "d 2"] | None = None,
    name: str = "graph",
) -> StateSpace:
    """Return the space of an adjacency matrix of zeros and ones.

    It must be symmetric, without self-loops, and connected. Without `goal` the last
    vertex is the goal, without `positions` the vertices are drawn on a circle.
    """
    matrix = _checked_adjacency(adjacency)
    if positions is None:
        angle = 2 * np.pi * np.arange(len(matrix)) / len(matrix)
        positions = np.column_stack([np.cos(angle), np.sin(angle)])
    goal = len(matrix) - 1 if goal is None else goal
    return StateSpace(name, matrix, goal, np.array(positions, dtype=float))


def _checked_adjacency(adjacency: ArrayLike) -> Bool[np.ndarray, "d d"]:
    matrix = np.asarray(adjacency)
    if matrix.shape != (matrix.size**0.5,) * 2 or len(matrix) < 2:
        rule = "must be square, for two vertices or more"
        raise ValueError(f"`adjacency` {rule}, got shape {matrix.shape}.")
    for i, j in np.argwhere(~np.isin(matrix, (0, 1)))[:1]:
        rule = "must hold zeros and ones (the walk is uniform over neighbours)"
        raise ValueError(f"`adjacency` {rule}, got {matrix[i, j]} at ({i}, {j}).")
    for at in np.flatnonzero(np.diagonal(matrix))[:1]:
        raise ValueError(f"`adjacency` must have no self-loop at vertex {at}.")
    for i, j in np.argwhere(matrix != matrix.T)[:1]:
        found = f"({i}, {j}) and ({j}, {i}) differ; use `adjacency | adjacency.T`"
        raise ValueError(f"`adjacency` must be symmetric, but {found}.")
    return matrix.astype(bool)
