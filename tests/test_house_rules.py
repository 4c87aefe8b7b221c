"""The rules of the house, enforced on the syntax trees of `src/`."""

import ast
import graphlib
import importlib
import pkgutil
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
    """Imports a module of the package; skips where a library of an extra is absent."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "freeproj").split(".")[0] not in HOMES:
            raise
        pytest.skip(f"{error.name} is not installed")


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


def test_every_module_stands_in_a_folder_of_the_way():
    assert {module.split(".")[0] for module in MODULES} <= FOLDERS | ROOT_MODULES


def test_folders_import_from_those_before_them():
    offenders = [
        f"{module} imports {imported}"
        for module, path in MODULES.items()
        for imported in imports_of(path)
        if imported.startswith("freeproj.")
        and (folder := imported.split(".")[1]) in FOLDERS
        and folder not in may_import(module.split(".")[0])
    ]
    assert not offenders


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


def test_imports_have_no_cycles():
    graph = {
        module: {module_of(each) for each in first_imports_of(path)} - {None}
        for module, path in MODULES.items()
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises, and names the cycle


def test_claims_need_no_drawing_library():
    code = (
        "import sys, freeproj.findings.claims; "
        "print([n for n in ('matplotlib', 'plotly', 'jinja2') if n in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("module", MODULES)
def test_heavy_libraries_stay_in_their_rooms(module):
    if module == "__init__":
        pytest.skip("imports nothing by itself")
    for imported in imports_of(MODULES[module]):
        rooms = HOMES.get(imported.split(".")[0])
        assert rooms is None or module.startswith(rooms), f"{module}: {imported}"


@pytest.mark.parametrize("module", [name for name in MODULES if name != "__init__"])
def test_all_lists_the_public_names(module):
    name = f"freeproj.{module}".removesuffix(".__init__")
    listed = load(name).__all__
    assert len(listed) == len(set(listed)), "a name stands twice"
    if module.endswith("__init__"):  # a package may pass on its modules' names
        assert public_names(MODULES[module]) <= set(listed)
        assert all(offers(load(name), each) for each in listed)
    else:
        assert public_names(MODULES[module]) == set(listed)


@pytest.mark.parametrize("module", MODULES)
def test_modules_stay_short(module):
    assert len(MODULES[module].read_text().splitlines()) <= 400


def test_public_names_of_the_package_exist():
    for name in freeproj.__all__:
        assert getattr(freeproj, name) is not None
    with pytest.raises(AttributeError, match="nosuch"):
        _ = freeproj.nosuch


def test_import_is_light():
    code = (
        "import sys, freeproj; "
        "heavy = 'matplotlib plotly ray gymnasium gymnax torch sklearn jax'.split(); "
        "print([name for name in heavy if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name",
    [
        info.name
        for info in pkgutil.walk_packages([str(SOURCE)], prefix="freeproj.")
        if not info.name.endswith("__main__")
    ],
)
def test_every_module_imports(name):
    load(name)
