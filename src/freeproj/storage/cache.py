"""Compiled programs, kept on disk, so that a second start need not compile again.

The folder is `$XDG_CACHE_HOME/freeproj` (`~/.cache/freeproj`), one for each kind of
processor. Set `FREEPROJ_CACHE` to another folder, or to `off`.
"""

import functools
import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
from jax.core import Tracer
from jax.stages import Wrapped

__all__ = ["cache_folder", "compiled", "compiled_once", "use_cache"]

# Level 1 gives the same numbers in the same time as XLA's own level and compiles in
# four fifths of its time. The quick way compiles in a sixth, computes far slower.
_USUAL = {"xla_backend_optimization_level": 1}
_QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}


def use_cache() -> Path | None:
    """Let JAX keep what it compiles; return the folder, None if no cache is used.

    A cache that the user has set up for JAX itself is left as it is. A folder that
    belongs to another user is not used: that user's programs would be run.
    """
    folder = cache_folder()
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore
    if folder is None or chosen:
        return folder
    if not _is_own(folder):
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # By default programs that compile within a second are not kept: most of ours.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return folder


def compiled(function: Callable, *, quick: bool = False, **options: Any) -> Wrapped:
    """Return `jax.jit` of a function that is called many times, or seldom (`quick`)."""
    # Accelerators have compilers, and so options, of their own. The user's go first.
    on_cpu, flags = jax.default_backend() == "cpu", os.environ.get("XLA_FLAGS", "")
    ours = (_QUICK if quick else _USUAL).items()
    chosen = {name: value for name, value in ours if name not in flags}
    return jax.jit(function, compiler_options=chosen if on_cpu else None, **options)


@functools.cache
def compiled_once(function: Callable, *static: int, quick: bool = False) -> Callable:
    """Return a function that is compiled once in a process; `static` are positions.

    Called while another program is being traced, it becomes a part of that one.
    """
    program = compiled(function, quick=quick, static_argnums=static)

    def call(*arguments: Any) -> Any:
        leaves = jax.tree.leaves(arguments)
        traced = any(isinstance(leaf, Tracer) for leaf in leaves)
        return (function if traced else program)(*arguments)

    return call


def cache_folder() -> Path | None:
    """Return the folder for compiled programs, None if `FREEPROJ_CACHE` is off."""
    chosen = os.environ.get("FREEPROJ_CACHE", "")
    if chosen.lower() in ("off", "0", "no"):
        return None
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    base = Path(chosen) if chosen else Path(home) / "freeproj"
    return base / f"xla-{_processor()}"


def _is_own(folder: Path) -> bool:
    """Make the folder, for this user only; say whether it is this user's."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False
        folder.chmod(0o700)
    except OSError:
        return False
    return True


def _processor() -> str:
    """Name the processor: programs compiled for one may not run on another."""
    described = platform.machine() + platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines()[:40] if cpuinfo.exists() else []
    described += "".join(x for x in lines if x.startswith(("model", "flags")))
    return hashlib.sha256(described.encode()).hexdigest()[:12]
