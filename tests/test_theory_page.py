"""The Python blocks of docs/theory.md print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "theory.md"
BLOCK = re.compile(r"```python\n(.*?)```\n```text\n(.*?)```", re.DOTALL)
BLOCKS = BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def test_the_page_has_its_blocks():
    assert len(BLOCKS) >= 6


@pytest.mark.parametrize(("code", "expected"), BLOCKS)
def test_block_prints_what_stands_below_it(code, expected):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), {})
    assert printed.getvalue() == expected
