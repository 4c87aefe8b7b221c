"""Claims about training turn with the data."""

from __future__ import annotations

import pytest

from fake_study import TASKS, write_study
from freeproj.report.gathering import gather
from freeproj.report.paper.claims import (
    best_length_exceeds_one,
    free_beats_plain,
    judge,
)
from freeproj.report.paper.verdicts import Verdict

HOLDS, FAILS, OPEN = Verdict.HOLDS, Verdict.FAILS, Verdict.OPEN
UP = {1: 0.2, 4: 0.5}
DOWN = {1: 0.5, 4: 0.2}


def study(folder, gains, n_seeds=7, tasks=("HigherLower",), **options):
    """Runs whose learned part depends on the length alone."""
    write_study(
        folder,
        tasks=tasks,
        lengths=tuple(gains),
        n_seeds=n_seeds,
        n_updates=6,
        every=3,
        noise=0.02,
        gain=lambda task, memory, length: gains[length],
        **options,
    )
    return gather(folder)


def verdict_of(claim, about):
    (finding,) = [each for each in claim.findings if each.about == about]
    return finding.verdict


@pytest.mark.parametrize("claim", [free_beats_plain, best_length_exceeds_one])
def test_flipping_the_data_flips_the_verdict(tmp_path, claim):
    up = claim(study(tmp_path / "up", UP))
    down = claim(study(tmp_path / "down", DOWN))
    assert verdict_of(up, "Higher Lower, GRU") is HOLDS
    assert verdict_of(down, "Higher Lower, GRU") is FAILS
    assert down.verdict is FAILS


@pytest.mark.parametrize("claim", [free_beats_plain, best_length_exceeds_one])
def test_three_seeds_cannot_tell(tmp_path, claim):
    judged = claim(study(tmp_path, UP, n_seeds=3, memories=("gru",)))
    assert {finding.verdict for finding in judged.findings} == {OPEN}
    assert "3 paired seeds" in judged.findings[2].basis


def test_the_paper_claims_every_task_so_missing_ones_leave_it_open(tmp_path):
    partly = free_beats_plain(study(tmp_path / "a", UP, n_seeds=6))
    assert partly.counts == {HOLDS: 2, OPEN: 8}
    assert partly.verdict is OPEN
    whole = free_beats_plain(study(tmp_path / "b", UP, n_seeds=6, tasks=TASKS))
    assert whole.verdict is HOLDS


def test_one_good_length_is_enough_for_the_best_one(tmp_path):
    gains = {1: 0.3, 2: 0.1, 4: 0.6}
    judged = best_length_exceeds_one(study(tmp_path, gains, memories=("gru",)))
    assert verdict_of(judged, "Higher Lower, GRU") is HOLDS
    assert "ℓ* = 4 by test MMER (the paper's: 8)" in judged.findings[2].basis


def test_the_verdict_is_on_the_length_that_training_chose(tmp_path):
    gains, trained = {1: 0.4, 2: 0.2, 4: 0.7}, {1: 0.1, 2: 0.9, 4: 0.2}
    chosen = study(
        tmp_path,
        gains,
        memories=("gru",),
        train_gain=lambda task, memory, length: trained[length],
    )
    finding = free_beats_plain(chosen).findings[2]
    assert finding.verdict is FAILS
    assert "ℓ = 2 chosen by training MMER" in finding.basis
    assert finding.remark.startswith("ℓ = 4 by test MMER, the paper's choice: +")


def test_agents_that_learned_nothing_are_marked(tmp_path):
    judged = free_beats_plain(study(tmp_path, {1: -0.3, 4: -0.2}, memories=("gru",)))
    assert "what luck alone reaches" in judged.findings[2].remark


def test_only_one_length_is_said_so(tmp_path):
    judged = free_beats_plain(study(tmp_path, {4: 0.3}, memories=("gru",)))
    assert judged.findings[2].basis == "Only ℓ = 4 was run."


def test_without_runs_and_numbers_nothing_can_be_told():
    claims = judge(None, {})
    assert len(claims) == 5
    assert {claim.verdict for claim in claims} == {OPEN}
    assert all(finding.basis for claim in claims for finding in claim.findings)
