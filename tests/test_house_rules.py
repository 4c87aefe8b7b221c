"""The rules of the house, enforced on the syntax trees of `src/`."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import freeproj

SOURCE = Path(freeproj.__file__).parent

# From the top of the house to the ground: a module may import from its own line and
# from lines below it.
LAYERS = (
    ("cli", "__main__", "__init__"),
    ("notebook",),
    ("report",),
    ("published",),
    ("stats",),
    ("experiments",),
    ("adapters",),
    ("seeds",),
    ("training", "watching"),
    ("learning", "held_out"),
    ("evaluation",),
    ("config", "metaenv", "projected_tasks", "rollout", "agents", "ppo"),
    ("projection", "families", "observation_maps", "action_maps", "spectra", "lsmdp"),
    ("matrices", "geometry", "envs"),
    ("words", "names", "files", "plain_arrays", "cache"),
)
# The same inside two packages; whatever stands beside these names is their ground.
INNER_LAYERS = (
    ("report.page",),
    ("report.figures", "report.tables", "report.paper.claims", "report.paper.answer"),
    ("report.paper",),
    ("report",),
    ("experiments.engines",),
    (
        "experiments.dataset",
        "experiments.tidy",
        "experiments.study",
        "experiments.agents",
        "experiments.run_seeds",
    ),
    ("experiments.run", "experiments.measures", "experiments.reading"),
    ("experiments.settings", "experiments.records", "experiments.store"),
    ("experiments",),
)
HEIGHT = {name: -row for row, names in enumerate(LAYERS) for name in names}

# Heavy libraries and the only places that may name them.
HOMES = {
    "matplotlib": ("report.figures",),
    "PIL": ("report", "adapters.gymnasium.drawing"),
    "jinja2": ("report.page",),
    "duckdb": ("report", "experiments.tidy"),
    "ray": ("experiments.engines.ray",),
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


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down_the_data_path(module):
    own = module.split(".")[0]
    for imported in imports_of(MODULES[module]):
        top, *below = imported.split(".")
        if top == "freeproj" and below and below[0] in HEIGHT:
            assert HEIGHT[below[0]] <= HEIGHT[own], f"{module} imports {imported}"


def inner_height(module):
    """Return how high a module of a layered package stands; None for all others."""
    for row, names in enumerate(INNER_LAYERS):
        if any(module == name or module.startswith(f"{name}.") for name in names):
            return -row
    return None


@pytest.mark.parametrize(
    "module", [name for name in MODULES if inner_height(name) is not None]
)
def test_imports_point_down_inside_report_and_experiments(module):
    package = module.split(".")[0]
    for imported in imports_of(MODULES[module]):
        name = imported.removeprefix("freeproj.")
        height = inner_height(name) if name.split(".")[0] == package else None
        if height is not None:
            assert height <= inner_height(module), f"{module} imports {imported}"


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


def test_every_module_has_its_layer():
    assert {module.split(".")[0] for module in MODULES} <= HEIGHT.keys()


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
