"""Named slips in a copy of the source, each of which a named test must catch."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]


class Mutant(NamedTuple):
    """One slip: what stands in a file, what it becomes, and who notices."""

    file: str
    before: str
    after: str
    caught_by: str


# `pytest -m fast` must catch these.
HEART = {
    "Haar without signs": Mutant(
        "projection/matrices.py",
        "left, right = first[:, :high] * signs, first[:, high:] @ (second * signs_w)",
        "left, right = first[:, :high], first[:, high:] @ second",
        "tests/projection/test_matrices.py::"
        "test_haar_law_has_the_signs_that_plain_qr_lacks",
    ),
    "GAE without lambda": Mutant(
        "learning/ppo.py",
        "delta + gae_lambda * ahead * advantage",
        "delta + ahead * advantage",
        "tests/learning/test_ppo.py::test_advantages_are_those_of_a_plain_loop",
    ),
    "a frame that shows an entry of what is seen": Mutant(
        "projection/frames.py",
        "seen = xp.concatenate([coordinates, left_over], axis=-1)",
        "seen = xp.concatenate([coordinates, x[..., :1]], axis=-1)",
        "tests/projection/test_frames.py::"
        "test_coordinates_are_the_same_under_every_isometry",
    ),
    "no action mask while playing and evaluating": Mutant(
        "learning/rollout.py",
        "agent.step(state.inputs, state.memory, fresh, mask)",
        "agent.step(state.inputs, state.memory, fresh)",
        "tests/learning/test_train.py::test_masked_actions_are_never_taken",
    ),
    "no Holm over the cells of a question": Mutant(
        "stats/verdicts.py",
        "known[cell] * (len(known) - place)",
        "known[cell]",
        "tests/stats/test_verdicts.py::test_cells_are_corrected_for_their_number",
    ),
}
MUTANTS = HEART | {
    "no action mask in the loss": Mutant(
        "learning/learn.py",
        "rollout.inputs, batch.memory, fresh, rollout.mask",
        "rollout.inputs, batch.memory, fresh",
        "tests/learning/test_core_laws.py::test_the_loss_sees_the_same_masks_as_the_player",
    ),
    "an evaluation window one step too long": Mutant(
        "learning/evaluate.py",
        "*played, tally.step < plan.n_steps",
        "*played, tally.step <= plan.n_steps",
        "tests/learning/test_core_laws.py::"
        "test_the_window_counts_what_ends_within_its_steps_and_nothing_later",
    ),
    "a linear schedule that forgets the minibatches": Mutant(
        "learning/learn.py",
        "config.n_updates * plan.n_epochs * plan.n_minibatches",
        "config.n_updates * plan.n_epochs",
        "tests/learning/test_core_laws.py::"
        "test_the_linear_schedule_ends_with_the_last_minibatch_of_the_last_update",
    ),
    "no Holm: the null rate notices too": Mutant(
        "stats/verdicts.py",
        "known[cell] * (len(known) - place)",
        "known[cell]",
        "tests/stats/test_calibration.py::test_null_studies_get_no_verdict_of_any_kind",
    ),
    "the whole level for cells and for the pool": Mutant(
        "stats/verdicts.py",
        "min(1.0, 2 * p, max(p, 2 * pool))",
        "p",
        "tests/stats/test_verdicts.py::test_cells_and_pool_share_the_level",
    ),
    "seeds of different cells taken for independent": Mutant(
        "stats/paired.py",
        "(shares.sum(axis=1) ** 2).sum()",
        "(shares**2).sum()",
        "tests/stats/test_paired.py::"
        "test_the_pool_of_equal_seeds_is_that_of_their_means",
    ),
}


def test_every_mutant_fits_the_source_and_names_a_test():
    for name, mutant in MUTANTS.items():
        text = (ROOT / "src/freeproj" / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.before) == 1, name
        file, _, test = mutant.caught_by.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), name


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name, tmp_path):
    mutant = MUTANTS[name]
    shutil.copytree(ROOT / "src", tmp_path / "src")
    file = tmp_path / "src" / "freeproj" / mutant.file
    text = file.read_text(encoding="utf-8")
    assert text.count(mutant.before) == 1, "the mutant no longer fits the source"
    file.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")
    paths = [tmp_path / "src", *(ROOT / each for each in ("tests", "tools"))]
    command = [
        *(sys.executable, "-m", "pytest", "-n", "0", "-x", "-q"),
        *("-p", "no:cacheprovider", "-o", f"pythonpath={' '.join(map(str, paths))}"),
        *("-m", "fast" if name in HEART else "not slow"),
        mutant.caught_by,
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=_environment(paths)
    )
    assert done.returncode == 1, f"{name} survives:\n{done.stdout}{done.stderr}"
    assert "failed" in done.stdout


def _environment(paths: list[Path]) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
