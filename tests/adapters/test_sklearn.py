"""Laws of the scikit-learn transformer, among them scikit-learn's own."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.random_projection import johnson_lindenstrauss_min_dim
from sklearn.utils.estimator_checks import check_estimator

from freeproj.adapters.sklearn import FreeRandomProjection


@pytest.mark.parametrize(
    "estimator",
    [
        FreeRandomProjection(),
        FreeRandomProjection(3, 2, 2, inverses=True, compute_inverse_components=True),
        FreeRandomProjection(2, family="permutation", dim=64),
    ],
)
def test_scikit_learn_accepts_the_estimator(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # checks it does not run here
        check_estimator(estimator)


def data(n_rows=40, n_features=24, seed=0):
    return np.random.default_rng(seed).standard_normal((n_rows, n_features))


def test_without_cutting_all_distances_are_kept():
    X = data()
    Z = FreeRandomProjection(random_state=0).fit_transform(X)
    np.testing.assert_allclose(pdist(Z), pdist(X))


def test_with_cutting_squared_distances_are_kept_on_average():
    X, ratios = data(n_rows=2), []
    for seed in range(400):
        Z = FreeRandomProjection(6, random_state=seed).fit_transform(X)
        ratios.append((pdist(Z) / pdist(X))[0] ** 2)
    error = np.std(ratios) / np.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 4 * error


def test_the_components_are_rows_of_the_words_matrix():
    model = FreeRandomProjection(6, 3, 4, dim=32, random_state=0).fit(data())
    assert model.components_.shape == (6, 24)
    assert model.word_.shape == (4,)
    full = FreeRandomProjection(6, 3, 4, dim=24, random_state=0).fit(data())
    gram = full.components_ @ full.components_.T
    np.testing.assert_allclose(gram, np.eye(6) * 24 / 6, atol=1e-12)


def test_auto_takes_as_many_components_as_distances_need():
    X = data(n_rows=30, n_features=800)
    model = FreeRandomProjection("auto", eps=0.5, random_state=0).fit(X)
    assert model.n_components_ == johnson_lindenstrauss_min_dim(30, eps=0.5)
    ratios = pdist(model.transform(X)) / pdist(X)
    assert 0.7 < ratios.min() < ratios.max() < 1.3
    with pytest.raises(ValueError, match="24 features"):
        FreeRandomProjection("auto").fit(data())


def test_a_pickle_holds_the_components_and_no_full_matrices():
    model = FreeRandomProjection(4, random_state=0).fit(data(n_features=400))
    stored = pickle.dumps(model)
    assert len(stored) < 2 * model.components_.nbytes
    X = data(n_features=400)
    np.testing.assert_array_equal(pickle.loads(stored).transform(X), model.transform(X))


def test_more_components_than_features_can_be_inverted_exactly():
    X = data(n_features=5)
    model = FreeRandomProjection(9, random_state=0).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X)


def test_fewer_components_are_inverted_to_the_point_of_least_norm():
    X = data()
    model = FreeRandomProjection(6, compute_inverse_components=True, random_state=0)
    Z = model.fit_transform(X)
    back = model.inverse_transform(Z)
    np.testing.assert_allclose(model.transform(back), Z)
    assert (np.linalg.norm(back, axis=1) <= np.linalg.norm(X, axis=1) + 1e-9).all()
    assert model.inverse_components_.shape == (24, 6)
    with pytest.raises(ValueError, match="size 6 is different from 24"):
        model.inverse_transform(X)


@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_sparse_input_gives_what_dense_input_gives(form):
    X = np.where(data() > 1, data(), 0)
    model = FreeRandomProjection(6, random_state=0).fit(form(X))
    np.testing.assert_allclose(model.transform(form(X)), model.transform(X))


def test_a_seed_fixes_the_projection_and_a_clone_repeats_it():
    X = data()
    model = FreeRandomProjection(6, random_state=3).fit(X)
    again = clone(model).fit(X)
    np.testing.assert_array_equal(model.components_, again.components_)
    other = FreeRandomProjection(6, random_state=4).fit(X)
    assert not np.allclose(model.components_, other.components_)


def test_names_of_features_come_out():
    model = FreeRandomProjection(3, random_state=0).fit(data())
    names = [f"freerandomprojection{i}" for i in range(3)]
    assert model.get_feature_names_out().tolist() == names


def test_float32_stays_float32():
    X = data().astype(np.float32)
    assert FreeRandomProjection(6, random_state=0).fit_transform(X).dtype == np.float32


def test_it_stands_in_a_pipeline():
    X = data(200)
    y = X[:, 0] > 0
    model = make_pipeline(FreeRandomProjection(random_state=0), LogisticRegression())
    assert model.fit(X, y).score(X, y) > 0.9


def test_a_dim_that_is_too_small_is_named():
    with pytest.raises(ValueError, match=r"`dim` .* 24 features .* got 8"):
        FreeRandomProjection(dim=8).fit(data())


@pytest.mark.parametrize("name", ["n_components", "n_generators", "length", "scale"])
def test_wrong_settings_are_named_when_fitting(name):
    with pytest.raises(ValueError, match=name):
        FreeRandomProjection(**{name: -1}).fit(data())
