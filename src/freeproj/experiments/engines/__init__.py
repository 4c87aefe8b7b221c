"""Engines: what carries out the runs of a study, on this machine or on a cluster.

An engine takes settings and a folder, calls `runs.run_training` for each of them
somewhere, and reports events. The folder is the only state: whatever an engine, a
process or a node does, finished runs are not run again and broken ones go on.
"""

from freeproj.experiments.engines.events import (
    Event,
    Outcome,
    programs_of,
    split_finished,
)

__all__ = ["Event", "Outcome", "programs_of", "split_finished"]
