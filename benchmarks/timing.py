"""What the benchmarks share: minima over repeats, and one line for each ratio.

`BENCHMARK_CLOCK=cpu` counts processor time instead of seconds: for a busy machine, and
only where one thread works. `BENCHMARK_REPEATS=1` tries whether all of them run.
"""

import os
import subprocess
import sys
import time

import jax

__all__ = ["RESULTS", "adopt", "best", "clock", "compare", "in_turns", "run", "say"]

# Lines that have a target, and whether it was met; the summary at the end shows them.
RESULTS: list[tuple[str, bool]] = []

_BUSY = os.environ.get("BENCHMARK_CLOCK") == "cpu"
_MOST_REPEATS = int(os.environ.get("BENCHMARK_REPEATS", "100"))
clock = time.process_time if _BUSY else time.perf_counter


def best(function, *arguments, repeats=7):
    """Returns the least time of several calls, in seconds, after one to warm up."""
    job = {"": lambda: function(*arguments)}
    return in_turns(job, repeats)[""]


def in_turns(jobs, repeats=5):
    """Returns the least seconds of each job: they take turns, so all meet one load."""
    for job in jobs.values():
        jax.block_until_ready(job())
    seconds = dict.fromkeys(jobs, float("inf"))
    for _ in range(min(repeats, _MOST_REPEATS)):
        for name, job in jobs.items():
            start = clock()
            jax.block_until_ready(job())
            seconds[name] = min(seconds[name], clock() - start)
    return seconds


def say(what, measured, unit="", *, at_most=None, at_least=None):
    """Prints a number with its target, and keeps it for the summary."""
    bound, word = (at_most, "at most") if at_least is None else (at_least, "at least")
    if bound is None:
        print(f"\n{what}: {measured:.3g}{unit} (no target)")
        return
    met = measured <= bound if at_least is None else measured >= bound
    line = f"{what}: {measured:.3g}{unit} (target: {word} {bound:g}{unit})"
    RESULTS.append((line, bool(met)))
    print(f"\n{line} {'PASS' if met else 'SHORT'}")


def compare(what, ours, theirs, target):
    """Prints how many times faster we are than another way."""
    print(f"\n  {1e3 * ours:.2f} ms against {1e3 * theirs:.2f} ms", end="")
    say(f"{what}, speed-up", theirs / ours, "x", at_least=target)


def adopt(text):
    """Prints what another process printed, and keeps its ratios for the summary."""
    print(text)
    for line in text.splitlines():
        found, _, verdict = line.rpartition(" ")
        if verdict in ("PASS", "SHORT"):
            RESULTS.append((found, verdict == "PASS"))


def run(*arguments, **env):
    """Runs Python in a process of its own; returns what it printed and its seconds."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, time.perf_counter() - began
