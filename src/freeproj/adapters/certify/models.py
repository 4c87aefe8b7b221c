"""Models of Stable-Baselines3 and sb3-contrib from their files.

Such a file holds pickled Python objects, so that loading it may run code: load only
files that you trust.
"""

import importlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["ALGORITHMS", "load_model"]

_SB3, _CONTRIB = "stable_baselines3", "sb3_contrib"
ALGORITHMS: dict[str, str] = {
    **dict.fromkeys(("A2C", "DDPG", "DQN", "PPO", "SAC", "TD3"), _SB3),
    **dict.fromkeys(
        ("ARS", "CrossQ", "QRDQN", "RecurrentPPO", "TQC", "TRPO"), _CONTRIB
    ),
}


def load_model(path: str | Path) -> Any:
    """Load a model; the algorithm is read from the file."""
    name = _algorithm(_settings(Path(path)))
    home = importlib.import_module(ALGORITHMS[name])
    return getattr(home, name).load(path, device="cpu")


def _algorithm(settings: Mapping[str, Any]) -> str:
    """Return the algorithm that a model's settings belong to.

    The file does not name it, but its policy's module does, or its own settings do.
    """
    policy = settings.get("policy_class")
    module = str(policy.get("__module__", "")) if isinstance(policy, dict) else ""
    folder = module.split(".")
    by_folder = {name.lower(): name for name in ALGORITHMS}
    if "recurrent" in folder:
        return "RecurrentPPO"
    if len(folder) > 1 and folder[1] in by_folder and folder[1] not in ("ppo", "a2c"):
        return by_folder[folder[1]]
    if "cg_max_steps" in settings:
        return "TRPO"
    return "PPO" if "clip_range" in settings else "A2C"


def _settings(path: Path) -> dict[str, Any]:
    """Read the settings of a model's file; nothing in it is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            return dict(json.loads(archive.read("data")))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file.") from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} is not a model of Stable-Baselines3, which `model.save` writes."
        ) from error
