"""The answer: five lines from published data, the same in README, docs and page."""

import re
from pathlib import Path

import pytest

import write_answer
from freeproj.findings.answer import answer
from freeproj.findings.claims import CLAIMS
from freeproj.published import published

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lines():
    return answer()


def test_the_answer_has_five_lines_each_with_its_numbers(lines):
    assert len(lines) == 5
    for line in lines:
        assert "nan" not in line.text
        assert re.search(r"\d\.\d\d", line.text), line


def test_every_line_belongs_to_a_claim_and_a_published_study(lines):
    for line in lines:
        assert CLAIMS.resolve(line.claim).answers
        assert len(published(line.study).dataset)


@pytest.mark.parametrize("name", write_answer.FILES)
def test_pages_say_what_the_published_data_say(name):
    text = (ROOT / name).read_text()
    assert "<!-- answer -->" in text
    assert write_answer.filled(text) == text, "run python tools/write_answer.py"


def test_a_page_with_another_number_is_noticed():
    text = (ROOT / "README.md").read_text()
    first = text.index("<!-- answer -->")
    place = first + re.search(r"\d\.\d\d", text[first:]).start()
    changed = text[:place] + "9.99" + text[place + 4 :]
    assert write_answer.filled(changed) == text


def test_the_first_screen_of_the_readme_has_it_all():
    first = (ROOT / "README.md").read_text().splitlines()[:25]
    text = "\n".join(first)
    assert "freeproj reproduce" in text
    assert ".venv/bin/pytest" in text
    assert re.findall(r"^\d\. ", text, re.MULTILINE) == [f"{n}. " for n in range(1, 6)]
