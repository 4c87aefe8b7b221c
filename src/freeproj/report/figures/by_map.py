"""Returns per trial on test projections, by word length: `why-table-1` and `storage`.

`why-table-1`: if ℓ = 1 falls below chance on tile and rises above it on minus tile,
with uncorrected QR only, the sign of QR is the cause. Diamonds are the paper's.
`storage`: at n fixed matrices ℓ = 1 trains on n projections, longer words on n^ℓ. Dots:
projections that no agent has met; open dots: training.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from freeproj.experiments.dataset import Dataset
from freeproj.findings import figure_numbers
from freeproj.findings.labels import seeds_text, task_title
from freeproj.report.figures import panels
from freeproj.report.figures.style import WIDE, length_colour
from freeproj.storage.saved import Numbers

__all__ = ["compute", "draw"]

_FAMILIES = {"qr": "uncorrected QR", "haar": "Haar"}


def compute(dataset: Dataset, show: str = "maps") -> dict[str, np.ndarray]:
    """Return returns per trial on every map, with the paper's, or with training."""
    if show == "maps":
        cells = figure_numbers.why_cells(dataset)
        return {
            **figure_numbers.map_numbers(cells),
            **figure_numbers.paper_numbers(cells),
        }
    cells = figure_numbers.storage_cells(dataset)
    n_generators = [cells.get(key, "projection.n_generators") for key in cells.runs]
    numbers = figure_numbers.map_numbers(cells, with_training=True)
    return {**numbers, "n_generators": np.array(n_generators)}


def draw(numbers: Numbers) -> Figure:
    """Draw a row per task and setting, a column per family and kind of bases."""
    if "n_generators" in numbers:
        return _draw_storage(numbers)
    kinds = panels.groups_of(numbers, "bases", "family")
    columns = [
        (b, f) for b in ("redrawn", "fixed") for f in _FAMILIES if (b, f) in kinds
    ]
    tasks = panels.groups_of(numbers, "task", "setting")
    figure = Figure(figsize=(WIDE, 0.9 + 1.5 * len(tasks)))
    grid = figure.subplots(len(tasks), len(columns), squeeze=False, sharey="row")
    for line, ((task, setting), rows) in zip(grid, tasks.items(), strict=True):
        for axes, kind in zip(line, columns, strict=True):
            _draw_maps(axes, numbers, np.intersect1d(rows, kinds[kind]))
        line[0].set_ylabel(f"{task_title(task)}\n{setting}\nreturn per trial")
    for axes, (bases, family) in zip(grid[0], columns, strict=True):
        axes.set_title(f"{_FAMILIES[family]}, {bases} bases")
    title = "Where Table 1 comes from: returns under four test projections, "
    return _finished(figure, grid, numbers, title)


def _finished(figure: Figure, grid: np.ndarray, numbers: Numbers, title: str) -> Figure:
    panels.share_legend(figure, grid)
    seeds = seeds_text(numbers["n_runs"].tolist())
    figure.suptitle(f"{title}{seeds}, 95 % intervals", fontsize=8.5)
    return figure


def _draw_maps(axes: Axes, numbers: Numbers, rows: np.ndarray) -> None:
    if not rows.size:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "not run", ha="center", transform=axes.transAxes)
        return
    titles = numbers["map_titles"].tolist()
    axes.set_xticks(range(len(titles)), [t.replace(" ", "\n", 1) for t in titles])
    axes.set_xlim(-0.5, len(titles) - 0.5)
    lengths = sorted(set(numbers["length"].tolist()))
    spread = np.linspace(-0.27, 0.27, len(lengths)) if len(lengths) > 1 else [0.0]
    places = dict(zip(lengths, spread, strict=True))
    for row in rows.tolist():
        length = int(numbers["length"][row])
        x = np.arange(len(titles)) + places[length]
        label = f"ℓ = {length}" + " (RP)" * (length == 1)
        panels.draw_points(axes, x, numbers, row, ms=3.5, lw=1.1, label=label)
    first = int(rows[0])
    panels.draw_levels(axes, numbers, first, "chance")
    if numbers["family"][first] == "qr":
        _draw_paper(axes, numbers, first, places)


def _draw_paper(axes: Axes, numbers: Numbers, row: int, places: dict) -> None:
    """Mark the paper's raw returns on tile, in the colour of their word length."""
    memory = str(numbers["setting"][row]).split(",")[0].lower()
    task = numbers["task"][row]
    mine = (numbers["paper_task"] == task) & (numbers["paper_memory"] == memory)
    for each in np.flatnonzero(mine).tolist():
        length = int(numbers["paper_length"][each])
        x, mean = places.get(length, 0.0) + 0.07, numbers["paper_mean"][each]
        style = {"mfc": "none", "mec": length_colour(length), "ms": 4.5}
        label = f"the paper's {'RP' if length == 1 else 'FRP'}"
        axes.plot([x], [mean], "D", label=label, **style)


def _draw_storage(numbers: Numbers) -> Figure:
    groups = panels.groups_of(numbers, "task", "setting")
    figure, grid = panels.panel_grid(1, len(groups))
    figure.set_figheight(2.6)
    for axes, ((task, setting), rows) in zip(grid[0], groups.items(), strict=True):
        _draw_lengths(axes, numbers, rows)
        n = "/".join(map(str, sorted(set(numbers["n_generators"][rows].tolist()))))
        axes.set_title(f"{task_title(task)}, {setting}\nn = {n} fixed matrices")
        axes.set_xlabel("word length ℓ")
    grid[0, 0].set_ylabel("return per trial")
    return _finished(figure, grid, numbers, "Equal storage: ")


def _draw_lengths(axes: Axes, numbers: Numbers, rows: np.ndarray) -> None:
    maps = numbers["maps"].tolist()
    test = "random" if "random" in maps else maps[0]
    rows = rows[np.argsort(numbers["length"][rows], kind="stable")]
    places = np.arange(len(rows))
    axes.set_xticks(places, map(str, numbers["length"][rows].tolist()))
    label = f"held out: {numbers['map_titles'][maps.index(test)]}"
    for name, text, face in (("train", "training", "none"), (test, label, None)):
        column = maps.index(name)
        axes.plot(places, numbers["mean"][rows, column], color="0.6", lw=0.8, zorder=1)
        for x, row in zip(places, rows.tolist(), strict=True):
            panels.draw_points(axes, x, numbers, row, [column], ms=4.5, mfc=face)
        axes.plot([], [], "o", ms=4.5, label=text, color="0.3", mfc=face)
    panels.draw_levels(axes, numbers, int(rows[0]), "chance", "blind")
