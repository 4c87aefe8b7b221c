"""The rules of the house, enforced on the syntax trees of `src/`."""

import ast
import graphlib
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import freeproj

SOURCE = Path(freeproj.__file__).parent

# The data's way: a folder may import from itself and from those before it.
ORDER = (
    "storage",
    "projection",
    "envs",
    "meta",
    "agents",
    "learning",
    "experiments",
    "stats",
    "published",
    "findings",
    "report",
    "cli",
)
# Beside the way: they import from its first four folders; a certificate also needs
# intervals. What reports draw is computed in the analyses; only the command line knows
# the adapters.
ANALYSES = ("spectra", "lsmdp")
BESIDE = {"adapters": (*ORDER[:4], "stats")} | dict.fromkeys(ANALYSES, ORDER[:4])
FOLDERS = {*ORDER, *BESIDE}
ROOT_MODULES = {"__init__", "__main__", "gymnasium"}

# Heavy libraries and the only places that may name them.
HOMES = {
    "matplotlib": ("report.figures",),
    "PIL": ("report", "envs.drawing"),
    "jinja2": ("report.page",),
    "ray": ("experiments.engines.ray",),
    "submitit": ("experiments.engines.slurm",),
    "optax": ("learning.learn",),
    "gymnasium": ("adapters",),
    "gymnax": ("adapters",),
    "torch": ("adapters",),
    "sklearn": ("adapters",),
    "stable_baselines3": ("adapters",),
    "sb3_contrib": ("adapters",),
}

MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
    for path in sorted(SOURCE.rglob("*.py"))
}


def imports_of(path):
    """Yields the dotted names that a file imports, at any depth of nesting."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def load(name):
    """Imports a module of the package; None where a library of an extra is absent."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "freeproj").split(".")[0] not in HOMES:
            raise
        return None


def offers(package, name):
    """Whether a package has a name; one that needs an absent extra counts."""
    try:
        return hasattr(package, name)
    except ModuleNotFoundError as error:
        return (error.name or "freeproj").split(".")[0] in HOMES


def public_names(path):
    """Returns the names that a module defines itself and does not hide."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            targets = [each for t in node.targets for each in getattr(t, "elts", [t])]
            names |= {t.id for t in targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def may_import(own):
    """Returns the folders that a folder, or a module beside them, may import from."""
    if own in ROOT_MODULES or own == "cli":
        return FOLDERS
    if own in BESIDE:
        return {own, *BESIDE[own]}
    analyses = ANALYSES if own == "report" else ()
    return {*ORDER[: ORDER.index(own) + 1], *analyses}


def module_of(imported):
    """Returns the module that a dotted name lies in; None outside the package."""
    parts = imported.split(".")[1:] if imported.startswith("freeproj.") else []
    while parts:
        for name in (".".join(parts), ".".join((*parts, "__init__"))):
            if name in MODULES:
                return name
        parts.pop()
    return None


def first_imports_of(path):
    """Yields what a file imports as it is loaded: nothing nested in it counts."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def wrongly_listed(module):
    """Yields what is wrong with a module's `__all__`."""
    loaded = load(f"freeproj.{module}".removesuffix(".__init__"))
    if loaded is None:
        return
    listed, own = loaded.__all__, public_names(MODULES[module])
    yield from (name for name in listed if listed.count(name) > 1)
    yield from own - set(listed)
    passes_on = module.endswith("__init__")  # a package passes on its modules' names
    lacks = [n for n in listed if not (offers(loaded, n) if passes_on else n in own)]
    yield from lacks


def test_folders_import_from_those_before_them():
    assert {module.split(".")[0] for module in MODULES} <= FOLDERS | ROOT_MODULES
    offenders = [
        f"{module} imports {imported}"
        for module, path in MODULES.items()
        for imported in imports_of(path)
        if imported.startswith("freeproj.")
        and (folder := imported.split(".")[1]) in FOLDERS
        and folder not in may_import(module.split(".")[0])
    ]
    assert not offenders


def test_imports_have_no_cycles():
    graph = {
        module: {module_of(each) for each in first_imports_of(path)} - {None}
        for module, path in MODULES.items()
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises, and names the cycle


def test_heavy_libraries_stay_in_their_rooms():
    offenders = [
        f"{module} imports {imported}"
        for module, path in MODULES.items()
        for imported in imports_of(path)
        if module != "__init__"  # it imports for type checkers only
        and (rooms := HOMES.get(imported.split(".")[0])) is not None
        and not module.startswith(rooms)
    ]
    assert not offenders


def test_every_module_imports_and_lists_its_public_names():
    offenders = {
        module: wrong
        for module in MODULES
        if module != "__init__" and (wrong := list(wrongly_listed(module)))
    }
    assert not offenders
    assert all(offers(freeproj, name) for name in freeproj.__all__)
    with pytest.raises(AttributeError, match="nosuch"):
        _ = freeproj.nosuch


def test_modules_stay_short():
    lengths = {
        module: len(path.read_text().splitlines()) for module, path in MODULES.items()
    }
    assert not {module: n for module, n in lengths.items() if n > 400}


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("freeproj", "matplotlib plotly ray gymnasium gymnax torch sklearn jax"),
        ("freeproj.findings.claims", "matplotlib plotly jinja2"),
    ],
)
def test_imports_are_light(module, heavy):
    seen = f"[name for name in {heavy.split()} if name in sys.modules]"
    code = f"import sys, {module}; print({seen})"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
