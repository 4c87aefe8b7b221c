"""The answer: sentences from published data, the same in README, docs and page."""

import re
from pathlib import Path

import pytest

import write_answer
from freeproj.findings.claims import opening
from freeproj.published import load, names
from freeproj.stats import Outcome

ROOT = Path(__file__).parents[2]


def lines_of(text):
    """Return the numbered lines of the answer block, unwrapped."""
    block = re.search(r"<!-- answer -->\n(.*?)<!-- end answer -->", text, re.DOTALL)[1]
    joined = " ".join(block.replace("\u00a0", " ").split())
    return [
        line.strip() for line in re.split(r"(?:^| )\d+\. (?=[A-Z])", joined) if line
    ]


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_every_line_is_the_sentence_of_an_answer_with_that_verdict(name):
    answers = {each.sentence: each for each in opening()}
    lines = lines_of((ROOT / name).read_text())
    assert len(lines) == len(answers) >= 5
    for line in lines:
        found = answers[line]
        open_ = line.startswith("It cannot be told whether")
        assert open_ == (found.outcome is Outcome.OPEN)
        assert line.startswith(found.statement) == (found.outcome is Outcome.HOLDS)


def test_every_line_has_numbers_from_a_published_study():
    for answer in opening():
        assert answer.study in names()
        assert len(load(answer.study))
        assert answer.status == "answered"
        assert "nan" not in answer.sentence
        assert re.search(r"\d\.\d", answer.sentence), answer


def test_a_line_that_says_more_than_its_answer_is_noticed():
    text = (ROOT / "README.md").read_text()
    changed = text.replace("It cannot be told whether with Haar", "With Haar")
    assert changed != text
    answers = {each.sentence for each in opening()}
    assert not set(lines_of(changed)) <= answers


@pytest.mark.parametrize("name", write_answer.FILES)
def test_pages_say_what_the_published_data_say(name):
    text = (ROOT / name).read_text()
    assert write_answer.filled(text) == text, "run python tools/write_answer.py"


def test_a_page_with_another_number_is_noticed():
    text = (ROOT / "README.md").read_text()
    first = text.index("<!-- answer -->")
    place = first + re.search(r"\d\.\d\d", text[first:]).start()
    changed = text[:place] + "9.99" + text[place + 4 :]
    assert write_answer.filled(changed) == text
