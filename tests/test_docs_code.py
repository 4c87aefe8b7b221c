"""The Python blocks of the documentation run, and print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
# No fence within the code: a block without output must not borrow a later one's.
BLOCK = re.compile(r"```python\n((?:(?!```).)*)```\n```text\n(.*?)```", re.DOTALL)
PAGES = {
    path.stem: BLOCK.findall(path.read_text(encoding="utf-8"))
    for path in sorted(DOCS.glob("*.md"))
}
BLOCKS = [
    pytest.param(code, expected, id=f"{page}-{number}")
    for page, blocks in PAGES.items()
    for number, (code, expected) in enumerate(blocks, start=1)
]


@pytest.mark.parametrize(
    ("page", "least"), [("theory", 7), ("choosing", 3), ("statistics", 2), ("index", 1)]
)
def test_pages_have_their_blocks(page, least):
    assert len(PAGES[page]) >= least


@pytest.mark.parametrize(("code", "expected"), BLOCKS)
def test_block_prints_what_stands_below_it(code, expected):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "a block of docs/", "exec"), {})
    assert printed.getvalue() == expected


@pytest.mark.slow
def test_the_training_guides_example_runs(capsys):
    page = (DOCS / "training.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "docs/training.md", "exec"), {})
    assert capsys.readouterr().out == "256 64\n"
