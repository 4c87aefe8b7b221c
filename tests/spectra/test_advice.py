"""What the report on one's own data says."""

import dataclasses

import numpy as np
import pytest

from freeproj import spectra
from freeproj.spectra.advice import default_trials, own_data_report, rescale
from freeproj.spectra.kernel import draw_words


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rescale(np.diag(np.arange(1, 61) ** -0.5) @ rng.normal(size=(60, 150)))[0]


@pytest.fixture(scope="module")
def report(data):
    return own_data_report(data, (2, 4, 8), (1e-3, 1e-1), n_words=256, n_trials=6)


def test_prediction_and_measurement_agree_for_correlated_data(report):
    allowed = 4 * report.standard_error + 0.8 / report.dim
    assert (np.abs(report.measured - report.predicted) < allowed).all()
    assert (np.diff(report.predicted, axis=0) < 0).all()
    assert (report.without_words > report.predicted).all()


def test_predictions_are_the_librarys_for_centred_and_rescaled_data(report, data):
    used, scale = rescale(data - data.mean(axis=1, keepdims=True))
    assert report.scale == pytest.approx(scale)
    for row, length in enumerate(report.lengths):
        expected = spectra.predicted_effective_dimension(
            used, report.ridges, report.n_generators[row], length
        )
        np.testing.assert_allclose(report.predicted[row], expected)


def test_scale_and_offset_of_data_and_target_do_not_matter(data):
    rng = np.random.default_rng(1)
    y = rng.normal(size=60) @ data + rng.normal(size=150)
    settings = {"lengths": (2,), "ridges": (0.1,), "n_trials": 2}
    plain = own_data_report(data, target=y, **settings)
    moved = own_data_report(40 * data + 7, target=y + 1000, **settings)
    np.testing.assert_allclose(moved.measured, plain.measured)
    np.testing.assert_allclose(moved.risk.risks, plain.risk.risks, rtol=1e-6)
    np.testing.assert_allclose(moved.risk.measured, plain.risk.measured, rtol=1e-6)
    assert plain.mean_share < 0.1 < moved.mean_share


def test_measuring_is_the_same_on_the_data_as_on_its_thin_form(data):
    """The report uses a 60 x 60 matrix in place of 150 samples: same bases, same K."""
    (measured,) = own_data_report(data, (4,), (0.01,), n_trials=3, seed=7).measured
    data = rescale(data - data.mean(axis=1, keepdims=True))[0]
    shares = []
    for seed in np.random.SeedSequence([7, 0]).spawn(3):
        mixed = draw_words(np.random.default_rng(seed), 4, 4, 60, "orthogonal")
        values = np.linalg.svd(mixed @ data, compute_uv=False)
        shares.append(spectra.effective_dimension(values**2, 0.01) / 60)
    assert measured[0] == pytest.approx(np.mean(shares), rel=1e-9)


def test_the_risk_is_predicted_and_measured_side_by_side(data):
    rng = np.random.default_rng(1)
    y = 3 * rng.normal(size=60) @ data + rng.normal(size=150)
    risk = own_data_report(data[:, :50], target=y[:50], n_trials=4).risk
    assert risk.lengths == (0, 1, 2, 4, 8)
    assert (np.diff(risk.risks) >= 0).all(), "words never lower the predicted risk"
    gap = np.abs(risk.measured - risk.risks)
    assert (gap < 4 * risk.standard_error).all()
    unknown = own_data_report(data, target=y, n_trials=0).risk
    assert np.isfinite(unknown.measured[0])
    assert np.isnan(unknown.measured[1:]).all()


@pytest.mark.parametrize("shape", [(20, 50), (50, 40), (5, 5)])
def test_noise_seldom_gets_a_ridge_recommended(shape):
    rng, n_sets = np.random.default_rng(0), 40
    found = [
        own_data_report(
            rng.normal(size=shape), (1,), n_trials=0, target=rng.normal(size=shape[1])
        ).risk.predicts
        for _ in range(n_sets)
    ]
    assert np.mean(found) <= 0.1  # of the rule "1 % better than zero": 8 to 65 %


def test_table_shows_both_normalisations(report):
    title, header, *rows, note, per_sample = report.table()
    assert "d_eff/d" in title
    assert "d_eff/p" in title
    assert header.split().count("predicted") == header.split().count("measured") == 2
    assert len(rows) == 2 * (1 + 3)
    cells = rows[1].split()
    assert cells[:3] == ["0.001", "2", "16"]
    assert float(cells[3]) == pytest.approx(report.predicted[0, 0], abs=1e-4)
    assert float(cells[7]) == pytest.approx(report.predicted[0, 0] / 2.5, abs=1e-4)
    assert float(cells[8]) == pytest.approx(report.measured[0, 0] / 2.5, abs=1e-4)
    assert "mean of 6 draws, orthogonal bases" in note
    assert per_sample == "ridge per sample (ridge/p): 6.67e-06, 0.000667"


def test_advice_by_effective_dimension_names_no_length(report):
    text = " ".join(report.advice())
    assert "would always favour the longest word" in text
    assert "256 words are possible with ℓ = 1, 2, 4, 8." in text
    assert "within the 0.8/d expected at d = 60" in text


def test_words_that_change_nothing_are_said_to(data):
    assert "words change nothing" in " ".join(
        own_data_report(data, (1, 8), (1e5,), n_trials=0).advice()
    )


def test_nothing_measured_is_nan_and_said(data):
    report = own_data_report(data, (1, 2), (0.1,), n_trials=0)
    assert np.isnan(report.measured).all()
    assert np.isnan(report.standard_error).all()
    assert "Nothing was measured" in " ".join(report.advice())
    assert report.table()[3].split()[4] == "–"


def test_one_trial_has_no_standard_error(data):
    report = own_data_report(data, (8,), (0.1,), n_trials=1)
    assert np.isfinite(report.measured).all()
    assert np.isnan(report.standard_error).all()
    assert report.advice()


def test_a_prediction_that_fails_is_said(report):
    wrong = dataclasses.replace(report, measured=report.measured + 0.1)
    text = " ".join(wrong.advice())
    assert "more than d = 60 explains: trust the measured column" in text


def test_small_and_swapped_data_get_a_word():
    report = own_data_report(np.eye(30)[:, :6], (1,), (0.1,), n_words=4, n_trials=1)
    text = " ".join(report.advice())
    assert "d = 30 is small" in text
    assert "cannot exceed p/d = 0.2" in text


def test_rescaled_samples_have_mean_squared_norm_one():
    X = 37 * np.random.default_rng(0).normal(size=(9, 5))
    scaled, factor = rescale(X)
    assert np.mean(np.sum(scaled**2, axis=0)) == pytest.approx(1)
    np.testing.assert_allclose(scaled, factor * X)
    with pytest.raises(ValueError, match="`X` must not be zero everywhere"):
        rescale(np.zeros((2, 2)))


def test_more_trials_for_fewer_dimensions():
    assert [default_trials(d) for d in (8, 64, 200, 5000)] == [64, 8, 3, 0]


def test_bad_requests_are_named(data, untyped):
    for change, message in [
        ({"lengths": ()}, "must each hold at least one value"),
        ({"ridges": (0.0,)}, "`ridges` must be finite and greater than 0"),
        ({"lengths": (3,)}, "nearest are 216"),
        ({"n_trials": -1}, "`n_trials` must be an integer, at least 0, got -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            own_data_report(data, **change)
