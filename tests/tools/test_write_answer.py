"""The answers: from published data, the same in README, docs and page."""

import re
from pathlib import Path

import pytest

import write_answer
from freeproj.findings.claims import ask_published, opening
from freeproj.published import load, names
from freeproj.stats import Outcome

ROOT = Path(__file__).parents[2]


# The pages, the block with their answers, and which form of an answer it holds.
PAGES = [
    ("README.md", "short answer", "headline"),
    ("docs/results.md", "answer", "headline"),
    ("docs/tables.md", "sentences", "sentence"),
]


def lines_of(text, block="answer"):
    """Return the numbered lines of a block of answers, unwrapped."""
    marks = f"<!-- {block} -->\n(.*?)<!-- end {block} -->"
    block = re.search(marks, text, re.DOTALL)[1].replace("**", "")
    joined = " ".join(block.replace("\u00a0", " ").split())
    return [
        line.strip() for line in re.split(r"(?:^| )\d+\. (?=[A-Z])", joined) if line
    ]


@pytest.mark.parametrize(("name", "block", "form"), PAGES)
def test_every_line_is_an_answer_with_that_verdict(name, block, form):
    answers = {getattr(each, form): each for each in opening()}
    lines = lines_of((ROOT / name).read_text(), block)
    whole = block != "short answer"
    assert len(lines) == (len(answers) if whole else len(write_answer.SHORT)) >= 5
    for line in lines:
        undecided = line.startswith("The data cannot tell whether")
        assert undecided == (answers[line].outcome is Outcome.OPEN)


def test_a_headline_is_short_and_says_what_it_rests_on():
    answers = [each for each in ask_published().values() if each.status != "missing"]
    assert len(answers) >= 15
    for answer in answers:
        words = answer.headline.replace(" %", "%").replace(" M steps", "M").split()
        assert len(words) <= 45, answer.name
        needed = answer.needed and f"{answer.needed} seeds needed"
        limits = "; ".join(filter(None, (answer.basis, needed, answer.also)))
        assert answer.headline.endswith(f"({limits})."), answer.name
        assert answer.power or not needed, answer.name
        assert re.search(r"\d seeds, .* M steps", answer.basis), answer.name
        undecided = answer.headline.startswith("The data cannot tell whether")
        assert undecided == (answer.outcome is Outcome.OPEN), answer.name
        assert not re.search(r"nan|[{}]|  ", answer.headline), answer.name


def test_every_line_has_numbers_from_a_published_study():
    for answer in opening():
        assert answer.study in names()
        assert len(load(answer.study))
        assert answer.status == "answered"
        assert "nan" not in answer.sentence
        assert re.search(r"\d", answer.headline), answer


def test_a_line_that_says_more_than_its_answer_is_noticed():
    text = (ROOT / "README.md").read_text()
    changed = text.replace("word length changes returns by less", "words help by more")
    assert changed != text
    answers = {each.headline for each in opening()}
    assert not set(lines_of(changed, "short answer")) <= answers


@pytest.mark.parametrize("name", write_answer.FILES)
def test_pages_say_what_the_published_data_say(name):
    text = (ROOT / name).read_text()
    assert write_answer.filled(text) == text, "run python tools/write_answer.py"


def test_a_page_with_another_number_is_noticed():
    text = (ROOT / "README.md").read_text()
    first = text.index("<!-- short answer -->")
    place = first + re.search(r"\d\.\d\d", text[first:]).start()
    changed = text[:place] + "9.99" + text[place + 4 :]
    assert write_answer.filled(changed) == text
