"""Draw the pictures of README and docs: python docs/pictures/draw.py

Each is what `freeproj figure NAME --out docs/pictures/NAME.png` draws (invariant,
why-table-1 and storage with `--runs published:NAME`; cost-of-words is an example), its
colours cut to 64, which the eye does not see and which makes the files three times
smaller. (`data-way.svg` is
drawn by hand.)
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

from freeproj.experiments.dataset import read_dataset
from freeproj.published import names
from freeproj.report.figures import make_figure

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))
OWN = {"cost-of-words": "cost_of_words:FIGURE"}

NAMES = (
    "invariant",
    "overview",
    "cost-of-words",
    "why-table-1",
    "storage",
)

TOLD = {"memory": "gru"}.items()
TASKS = ("HigherLower", "RepeatPrevious", "StatelessCartPole")

for name in NAMES:
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / f"{name}.png"
        runs = read_dataset(f"published:{name}") if name in names() else None
        if (
            name == "why-table-1"
        ):  # on a screen: one memory, where a verdict rests on it
            runs = runs.select(lambda run: run.settings.items() >= TOLD)
            runs = runs.select(lambda run: run.settings["task"] in TASKS)
        make_figure(OWN.get(name, name), drawn, dataset=runs)
        picture = Image.open(drawn).convert("RGB").quantize(64)
    picture.save(HERE / f"{name}.png", optimize=True)
    print(HERE / f"{name}.png")
