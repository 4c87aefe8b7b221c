"""The Python blocks of the documentation run, and print what stands below them."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fake_study import write_study
from freeproj.experiments.dataset import read_dataset
from freeproj.findings.claims import CLAIMS
from freeproj.report.figures import FIGURES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# No fence within the code: a block without output must not borrow a later one's.
BLOCK = re.compile(r"```python\n((?:(?!```).)*)```\n```text\n(.*?)```", re.DOTALL)
FILE = re.compile(r"```python\n# (\w+)\.py\n(.*?)```", re.DOTALL)
PAGES = {
    path.stem: BLOCK.findall(path.read_text(encoding="utf-8"))
    for path in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
}
BLOCKS = [
    pytest.param(code, expected, id=f"{page}-{number}")
    for page, blocks in PAGES.items()
    for number, (code, expected) in enumerate(blocks, start=1)
]


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("README", 2),
        ("kernel", 7),
        ("words", 5),
        ("jax", 3),
        ("choosing", 3),
        ("statistics", 2),
        ("index", 1),
        ("extending", 4),
    ],
)
def test_pages_have_their_blocks(page, least):
    assert len(PAGES[page]) >= least


@pytest.mark.parametrize(
    "page",
    [
        "README",
        "choosing",
        "frames",
        "gymnasium",
        "jax",
        "kernel",
        "pytorch",
        "scikit-learn",
        "stable-baselines3",
        "tasks",
        "words",
    ],
)
def test_every_block_of_these_pages_is_run(page):
    """A block without output is run by nobody; here only data is prepared in one."""
    folder = ROOT if page == "README" else DOCS
    text = (folder / f"{page}.md").read_text(encoding="utf-8")
    prepared = 1 if page == "choosing" else 0
    assert text.count("```python\n") == len(PAGES[page]) + prepared


@pytest.mark.parametrize("number", [0, 1])
def test_commands_of_the_gymnasium_page_run_in_a_fresh_process(number):
    page = (DOCS / "gymnasium.md").read_text(encoding="utf-8")
    code = re.findall(r'^python -c "(.*)"$', page, re.MULTILINE)[number]
    if "stable_baselines3" in code:
        pytest.importorskip("stable_baselines3")
    assert "freeproj.gymnasium:freeproj/" in code
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The blocks that are files, `# corridor.py`, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = []
    for name, code in FILE.findall((DOCS / "extending.md").read_text(encoding="utf-8")):
        (tmp_path / f"{name}.py").write_text(code)
        names.append(name)
        monkeypatch.delitem(sys.modules, name, raising=False)
    registries = [(each, {*each}) for each in (CLAIMS, FIGURES)]
    yield names
    for registry, before in registries:  # other tests of this process know none of it
        for added in registry.keys() - before:
            del registry[added]
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("code", "expected"), BLOCKS)
@pytest.mark.usefixtures("files")
def test_block_prints_what_stands_below_it(code, expected):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "a block of docs/", "exec"), {})
    assert printed.getvalue() == expected


@pytest.mark.slow
def test_the_training_guides_example_runs(capsys):
    page = (DOCS / "training.md").read_text(encoding="utf-8")
    by_name, by_key, *_ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for code in (by_name, by_key):
        exec(compile(code, "docs/training.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Trained(HigherLower, gru, seed 0; 4 updates; test tile ")
    assert second == "256 64"


@pytest.mark.slow
def test_a_run_of_all_that_is_ones_own(files, tmp_path):
    from freeproj.cli import main

    study = tmp_path / "own.toml"
    study.write_text(
        "base = 'smoke'\n"
        "[settings]\n"
        "task = 'corridor:Corridor'\n"
        "memory = 'decay:Decay'\n"
        "n_updates = 1\n"
        "projection.family = 'matrices_of_mine:signed'\n"
        "evaluation.maps = ['matrices_of_mine:backwards']\n"
        "[grid]\n"
        "seeds = 2\n"
    )
    main(["sweep", str(study), "--engine", "one_by_one:run", "--quiet"])
    dataset = read_dataset(tmp_path / "runs")
    assert (dataset.n_finished, dataset.seeds) == (2, (0, 1))
    assert "test/matrices_of_mine:backwards/episodes/episode_return" in dataset.metrics


@pytest.mark.slow
def test_the_tutorials_python_reads_its_study(tmp_path, monkeypatch, capsys):
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    *_, code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    one = {"tasks": ("HigherLower",), "memories": ("gru",)}
    write_study(tmp_path / "runs", **one, lengths=(1, 4), n_updates=4)
    monkeypatch.chdir(tmp_path)
    changed = code.replace('"encoder": "frame"', '"projection.length": 4')
    changed = changed.replace('"encoder": "none"', '"projection.length": 1')
    exec(compile(changed, "docs/tutorial.md", "exec"), {})
    assert "(Higher Lower)" in capsys.readouterr().out  # the answer
    assert "HigherLower" in (tmp_path / "runs.csv").read_text()


def test_a_figure_of_ones_own_is_drawn(files, tmp_path):
    from freeproj.cli import main

    write_study(tmp_path / "runs", tasks=("HigherLower",), lengths=(1,), n_updates=4)
    main(["figure", "spread:SPEC", "--runs", "runs", "--out", "spread.png"])
    assert (tmp_path / "spread.png").stat().st_size > 1000
