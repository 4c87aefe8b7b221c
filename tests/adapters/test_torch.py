"""Laws of the PyTorch layer: the numbers of JAX and NumPy, and PyTorch's own habits."""

import copy
import multiprocessing
import operator
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeproj import FreeProjection
from freeproj.adapters.numpy_core import draw_bases, draw_word, matrix
from freeproj.projection.frames import PlainFrame

torch = pytest.importorskip("torch")
layers = pytest.importorskip("freeproj.adapters.torch")
FreeProjectionLayer = layers.FreeProjectionLayer

LAW = FreeProjection(3, 4, dim=8, input_dim=6)


@pytest.mark.parametrize("family", ["haar", "permutation"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_jax_numpy_and_torch_agree_from_the_same_bases(family, data):
    dim = data.draw(st.integers(1, 9))
    law = FreeProjection(
        data.draw(st.integers(1, 3)),
        data.draw(st.integers(1, 4)),
        dim=dim,
        input_dim=data.draw(st.integers(1, 12)),
        family=family,
        inverses=data.draw(st.booleans()),
    )
    obs_dim = data.draw(st.integers(1, dim))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    bases = draw_bases(law, rng)
    words = np.stack([draw_word(law, rng) for _ in range(5)])
    x = rng.standard_normal((5, obs_dim))
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)
    layer = FreeProjectionLayer(obs_dim, law, bases=bases, seed=0)
    ours = layer(torch.as_tensor(x), torch.as_tensor(words)).numpy()
    for word, row, projected in zip(words, x, ours, strict=True):
        by_jax = law.project(word, jnp.asarray(bases), row)
        np.testing.assert_allclose(projected, by_jax, atol=1e-6)
        by_numpy = matrix(law, word, bases, obs_dim) @ row
        np.testing.assert_allclose(projected, by_numpy, atol=1e-6)


def test_float64_agrees_with_numpy_to_rounding():
    rng = np.random.default_rng(0)
    bases, x = draw_bases(LAW, rng), rng.standard_normal((7, 5))
    layer = FreeProjectionLayer(5, LAW, bases=bases, dtype=torch.float64)
    expected = x @ matrix(LAW, layer.word.numpy(), bases, 5).T
    np.testing.assert_allclose(layer(torch.as_tensor(x)), expected, atol=1e-13)


def test_one_word_for_all_is_the_same_as_that_word_for_each():
    layer = FreeProjectionLayer(5, LAW, seed=0)
    x = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    same = layer.word.expand(2, 3, -1)
    torch.testing.assert_close(layer(x), layer(x, same))
    torch.testing.assert_close(layer(x), x @ layer.matrix().T)
    assert layer(x).shape == (2, 3, 6)


def test_resampling_changes_the_word_and_on_demand_the_bases():
    layer = FreeProjectionLayer(5, LAW, seed=0)
    bases, words = layer.bases.clone(), set()
    for _ in range(10):
        layer.resample()
        words.add(tuple(layer.word.tolist()))
    assert len(words) > 3
    assert torch.equal(layer.bases, bases)
    layer.resample(bases=True)
    assert not torch.allclose(layer.bases, bases)


def test_the_state_dict_keeps_bases_and_word():
    first, second = (FreeProjectionLayer(5, LAW, seed=seed) for seed in (0, 1))
    x = torch.ones(1, 5)
    assert not torch.allclose(first(x), second(x))
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(x), second(x))
    assert not list(first.parameters())


def test_the_layer_moves_between_types_and_keeps_letters_integer():
    layer = FreeProjectionLayer(5, LAW, seed=0)
    layer.to(torch.float64)
    assert layer(torch.ones(2, 5, dtype=torch.float64)).dtype == torch.float64
    assert layer.word.dtype == torch.long
    meta = FreeProjectionLayer(5, LAW, seed=0).to("meta")
    assert meta.bases.device.type == meta.word.device.type == "meta"


@pytest.mark.parametrize("each", [False, True])
def test_gradients_pass_to_the_input(each):
    layer = FreeProjectionLayer(5, LAW, seed=0, dtype=torch.float64)
    x = torch.ones(3, 5, dtype=torch.float64, requires_grad=True)
    words = layer.sample_words(3) if each else None
    torch.autograd.gradcheck(lambda x: layer(x, words), (x,))


def test_a_layer_in_a_model_survives_saving_without_pickled_code(tmp_path):
    model = torch.nn.Sequential(FreeProjectionLayer(5, LAW, seed=0), torch.nn.ReLU())
    torch.save(model.state_dict(), tmp_path / "model.pt")
    other = torch.nn.Sequential(FreeProjectionLayer(5, LAW, seed=9), torch.nn.ReLU())
    other.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    x = torch.ones(1, 5)
    assert torch.equal(model(x), other(x))


def test_wrong_sizes_words_and_families_are_named():
    with pytest.raises(ValueError, match=r"1 to 8 .* got 9"):
        FreeProjectionLayer(9, LAW)
    with pytest.raises(ValueError, match=r"\(3, 8, 8\)"):
        FreeProjectionLayer(3, LAW, bases=np.zeros((2, 8, 8)))
    layer = FreeProjectionLayer(5, LAW)
    with pytest.raises(ValueError, match=r"takes 5 entries .* got 4"):
        layer(torch.ones(2, 4))
    with pytest.raises(ValueError, match=r"letters in 1\.\.3"):
        layer(torch.ones(2, 5), torch.tensor([[1, 2, 3, 4], [1, 1, 1, 1]]))


@pytest.mark.parametrize(
    "family", ["qr", "iid_haar", "gaussian", "hadamard", "identity"]
)
def test_other_families_give_the_numbers_of_jax(family):
    law = FreeProjection(2, 2, dim=8, input_dim=6, family=family)
    layer = FreeProjectionLayer(5, law, seed=0, dtype=torch.float64)
    words = torch.tensor([[1, 2], [2, 2]])
    x = torch.ones(2, 5, dtype=torch.float64)
    for word, row in zip(words, layer(x, words), strict=True):
        by_jax = law.project(word.numpy(), jnp.asarray(layer.bases.numpy()), np.ones(5))
        np.testing.assert_allclose(row, by_jax, atol=1e-6)


def test_the_state_dict_keeps_the_random_stream():
    first = FreeProjectionLayer(5, LAW, seed=0)
    first.resample()
    second = FreeProjectionLayer(5, LAW, seed=1)
    second.load_state_dict(first.state_dict())
    for layer in (first, second):
        layer.resample(bases=True)
    assert torch.equal(first.weight, second.weight)
    assert torch.equal(first.sample_words(9), second.sample_words(9))


def test_more_words_than_a_table_holds_are_formed_as_they_come():
    law = FreeProjection(16, 16, dim=8, input_dim=6)
    layer = FreeProjectionLayer(5, law, seed=0, dtype=torch.float64)
    assert layer.table is None
    words, x = layer.sample_words(4), torch.ones(4, 5, dtype=torch.float64)
    each = torch.stack(
        [layer.matrix(word) @ row for word, row in zip(words, x, strict=True)]
    )
    torch.testing.assert_close(layer(x, words), each)


COMPILE_AND_EXPORT = """
import torch
from freeproj import FreeProjection
from freeproj.adapters.torch import FreeProjectionLayer

for each in (False, True):
    layer = FreeProjectionLayer(5, FreeProjection(2, 3, dim=8), seed=0)
    x = torch.randn(7, 5)
    inputs = (x, layer.sample_words(7)) if each else (x,)
    expected = layer(*inputs)
    exported = torch.export.export(layer, inputs).module()
    torch.testing.assert_close(exported(*inputs), expected)
    compiled = torch.compile(layer, fullgraph=True)
    torch.testing.assert_close(compiled(*inputs), expected)
    layer.resample()
    torch.testing.assert_close(compiled(x), layer(x))
"""


@pytest.mark.slow
def test_the_layer_compiles_without_breaks_and_exports():
    """In a process of its own: the checks of signatures here cannot be traced."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILE_AND_EXPORT], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# Copies and files.


def through_torch_save(layer, path):
    torch.save(layer, path)
    return torch.load(path, weights_only=False)


def test_a_number_is_the_dimension_of_the_papers_projection():
    layer = pickle.loads(pickle.dumps(FreeProjectionLayer(4, 8)))
    assert layer.projection == FreeProjection(4, 4, dim=8)
    assert layer(torch.ones(3, 4)).shape == (3, 8)


@pytest.mark.parametrize("kind", ["pickle", "torch.save", "deepcopy"])
def test_a_layer_can_be_copied_whole(kind, tmp_path):
    layer = FreeProjectionLayer(4, LAW, seed=0)
    again = {
        "pickle": lambda: pickle.loads(pickle.dumps(layer)),
        "torch.save": lambda: through_torch_save(layer, tmp_path / "layer.pt"),
        "deepcopy": lambda: copy.deepcopy(layer),
    }[kind]()
    x = torch.randn(3, 4)
    assert torch.equal(layer(x), again(x))
    layer.resample()
    again.resample()
    assert torch.equal(layer(x), again(x))
    # What is loaded into the copy forms the copy's matrices, not the layer's.
    other = FreeProjectionLayer(4, LAW, seed=1)
    again.load_state_dict(other.state_dict())
    assert torch.equal(again(x), other(x))
    assert not torch.equal(layer(x), other(x))


def test_a_layer_is_sent_to_a_spawned_worker():
    layer, x = FreeProjectionLayer(4, LAW, seed=0), torch.randn(3, 4)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        seen = pool.submit(operator.call, layer, x).result(timeout=120)
    assert torch.equal(seen, layer(x))


# Frames.


def test_a_frame_is_the_same_in_torch():
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(12, 3, 8)).astype(np.float32)
    xs[5] = 2 * xs[4]  # no new direction
    layer, plain = layers.FrameLayer(8, 4), PlainFrame(4, 8, batch=(3,))
    frame = None
    for x in xs:
        seen, frame = layer(torch.as_tensor(x), frame)
        np.testing.assert_allclose(seen, plain.see(x), atol=2e-5)
    np.testing.assert_array_equal(frame.n_known, plain.n_known)
    unrolled, after = layer.unroll(torch.as_tensor(xs))
    assert torch.equal(unrolled[-1], seen)
    assert torch.equal(after.rows, frame.rows)


def test_a_start_empties_the_frame_of_its_row_only():
    xs = torch.randn(6, 2, 8)
    layer, starts = layers.FrameLayer(8, 4), torch.zeros(6, 2, dtype=torch.bool)
    starts[3, 1] = True
    seen, _ = layer.unroll(xs, starts=starts)
    whole, _ = layer.unroll(xs)
    again, _ = layer.unroll(xs[3:])
    assert torch.equal(seen[:, 0], whole[:, 0])
    assert torch.equal(seen[3:, 1], again[:, 1])


def test_no_projection_changes_what_a_frame_shows():
    x = torch.randn(9, 5, 4, dtype=torch.float64)
    seen = []
    for seed in range(2):
        projection = FreeProjectionLayer(
            4, FreeProjection(4, 4, 16), seed=seed
        ).double()
        projection.load_state_dict(projection.state_dict())
        seen.append(layers.FrameLayer(16, 4, threshold=0.1).unroll(projection(x))[0])
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-5)


def test_a_frame_can_be_compiled_and_saved(tmp_path):
    layer, x = layers.FrameLayer(8, 4), torch.randn(2, 8)
    program = torch.export.export(layer, (x, layer.empty(2)))
    assert torch.equal(program.module()(x, layer.empty(2))[0], layer(x)[0])
    again = through_torch_save(layer, tmp_path / "frame.pt")
    assert torch.equal(again(x)[0], layer(x)[0])


@pytest.mark.parametrize("wrong", [{"size": 0}, {"threshold": -1.0}])
def test_wrong_settings_of_a_frame_are_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        layers.FrameLayer(8, **wrong)
    with pytest.raises(ValueError, match="takes 8 entries"):
        layers.FrameLayer(8)(torch.randn(2, 7))
