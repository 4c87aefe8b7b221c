"""Engines carry out the runs of a study, on this machine or on a cluster.

An engine is a function `(configs, out, *, report=None, ...)` that calls
`run.run_training` for each of the settings somewhere, reports events and returns an
`Outcome` for each. The folder is the only state: whatever an engine, a process or a
node does, finished runs are not run again and interrupted ones resume. Your own engine
is named `module:attribute`.
"""

from __future__ import annotations

from collections.abc import Callable

from freeproj.experiments.engines.events import (
    Event,
    Outcome,
    programs_of,
    split_finished,
)
from freeproj.storage.names import import_name, is_import_name, suggestion

__all__ = [
    "ENGINES",
    "Event",
    "Outcome",
    "find_engine",
    "programs_of",
    "split_finished",
]

# By name only, so that Ray and submitit are imported only when they are used.
ENGINES = {
    "local": "freeproj.experiments.engines.local:run_local",
    "ray": "freeproj.experiments.engines.ray:run_ray",
    "slurm": "freeproj.experiments.engines.slurm:run_slurm",
}


def find_engine(name: str) -> Callable[..., list[Outcome]]:
    """Return the engine of a name or of `module:attribute`."""
    if name not in ENGINES and not is_import_name(name):
        raise ValueError(
            f"No engine {name!r}.{suggestion(name, ENGINES)} Known: "
            f"{', '.join(ENGINES)}; or your own as module:attribute."
        )
    return import_name(ENGINES.get(name, name), "engine")
