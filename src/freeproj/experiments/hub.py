"""An agent as a folder in the layout of the Hugging Face Hub.

`README.md` is the model card, with results in its front matter. `load_agent` reads the
folder. Nothing is uploaded; `hf upload NAME DIR` does that.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freeproj.agents import ActorCritic
from freeproj.experiments.arrays import check_weights, tree_digest
from freeproj.experiments.run import state_shapes
from freeproj.experiments.settings import read_config, to_toml
from freeproj.learning.config import TrainConfig
from freeproj.storage.arrays import read_safetensors, write_safetensors
from freeproj.storage.files import DAMAGED, read_regular, write_text

__all__ = ["REPLAY", "WEIGHTS", "read_hub", "write_hub"]

WEIGHTS, REPLAY = "model.safetensors", "replay.gif"
_Card = Mapping[str, Any]
_MOST_CARD = 2**20  # bytes of the results

_MAPS = {"tile": "the tiled observation", "random": "unseen random projections"}
_MAPS |= {"minus_tile": "the tiled observation, negated", "zero": "observation blanked"}


def write_hub(
    agent: ActorCritic, config: TrainConfig, folder: str | Path, card: _Card, name=""
) -> Path:
    """Write weights, settings, results and model card; a replay found there is shown.

    The card is what `freeproj export` measured: `returns` under each map, and more.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    readme = _readme(name or folder.resolve().name, config, card, folder)
    write_text(folder / "config.toml", to_toml(config))
    write_text(folder / "results.json", json.dumps(dict(card), indent=2) + "\n")
    write_text(folder / "README.md", readme)
    marks = {"format": "freeproj", "sha256": tree_digest(agent)}
    arrays = {name: np.asarray(leaf) for name, leaf in _by_name(agent).items()}
    write_safetensors(folder / WEIGHTS, arrays, marks)
    return folder


def read_hub(folder: Path) -> tuple[ActorCritic, TrainConfig, dict[str, Any]]:
    """Read agent, settings and results."""
    config = read_config(folder / "config.toml")
    like = state_shapes(config)[-1].agent
    path = folder / WEIGHTS
    stored, texts = read_safetensors(path)
    expected = _by_name(like)
    kinds = {name: (leaf.shape, leaf.dtype) for name, leaf in expected.items()}
    if {name: (each.shape, each.dtype) for name, each in stored.items()} != kinds:
        raise ValueError(f"{path} is of other settings: its arrays do not fit.")
    leaves = [jnp.asarray(stored[name]) for name in expected]
    agent = jax.tree.unflatten(jax.tree.structure(like), leaves)
    check_weights(agent, path, texts.get("sha256"))
    results = folder / "results.json"
    try:
        card = json.loads(read_regular(results, _MOST_CARD)) if results.exists() else {}
        return agent, config, dict(card)
    except DAMAGED:
        raise ValueError(f"{results} is damaged; export the agent again.") from None


def _by_name(agent: Any) -> dict[str, Any]:
    """Return the arrays of an agent, or their shapes, by name, in the tree's order."""
    return {
        jax.tree_util.keystr(path, simple=True, separator="."): leaf
        for path, leaf in jax.tree_util.tree_leaves_with_path(agent)
    }


def _readme(name: str, config: TrainConfig, card: _Card, folder: Path) -> str:
    """Write the model card: front matter in YAML, of which JSON is a part."""
    kind, tasks = "reinforcement-learning", list(config.tasks)
    matter: dict[str, Any] = {"library_name": "freeproj", "pipeline_tag": kind}
    matter["tags"] = [kind, "in-context-learning", *tasks]
    matter["model-index"] = [{"name": name, "results": _model_results(tasks, card)}]
    lines = [f"{key}: {json.dumps(value)}" for key, value in matter.items()]
    front = "\n".join(["---", *lines, "---"])
    shown = f"![an episode]({REPLAY})\n\n" if (folder / REPLAY).is_file() else ""
    return f"{front}\n\n# {name}\n\n{shown}{_text(config, card)}"


def _model_results(tasks: list[str], card: _Card) -> list[dict[str, Any]]:
    metrics, kind = [], {"type": "mean_reward", "verified": False}
    for map_name, found in card.get("returns", {}).items():
        if (mean := found.get("mean")) is not None:
            name = f"return of a trial, {_MAPS.get(map_name, map_name)}"
            metrics.append({**kind, "name": name, "value": round(mean, 4)})
    task = dict.fromkeys(("type", "name"), "reinforcement-learning")
    data = dict.fromkeys(("name", "type"), "+".join(tasks))
    return [{"task": task, "dataset": data, "metrics": metrics}] if metrics else []


def _text(config: TrainConfig, card: _Card) -> str:
    law = config.projection
    table = "| test | return of a trial | by trial |\n|---|---|---|"
    for map_name, found in card.get("returns", {}).items():
        mean, *trials = map(_number, [found.get("mean"), *found.get("trials", [])])
        table += f"\n| {_MAPS.get(map_name, map_name)} | {mean} | {' '.join(trials)} |"
    titles = {"command": "Trained by", "does_not": "Limits"}
    notes = [f"{titles[key]}: {card[key]}\n" for key in titles if card.get(key)]
    return (
        f"An agent for {', '.join(config.tasks)} behind random projections (memory "
        f"{config.memory}, encoder {config.encoder}, n = {law.n_generators}, ℓ = "
        f"{law.length}, d = {law.dim}, seed {config.seed}).\n\n{table}\n\n"
        + "\n".join(notes)
        + "\n```python\nimport freeproj as fp\n\n"
        'agent = fp.load_agent("path/to/this/folder")\nagent.reset()\n```\n'
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}"
