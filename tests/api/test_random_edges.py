"""Draws whose parameters leave nothing to accept end all the same."""

import numpy as np

import paddle


def test_gamma_of_no_finite_shape():
    shapes = paddle.to_tensor([np.inf, np.nan, 0.0, -1.0, 1e300, 2.0], dtype="float64")
    got = paddle.standard_gamma(shapes).numpy()
    assert got[0] == np.inf and np.isnan(got[1:4]).all()
    np.testing.assert_allclose(got[4], 1e300, rtol=1e-6)  # the deviation is its root
    assert 0 < got[5] < 50


def test_binomial_of_a_count_beyond_whole_numbers():
    counts = paddle.to_tensor([np.inf, 1e300, 10.0], dtype="float64")
    got = paddle.binomial(counts, paddle.full([3], 0.5, "float64")).numpy()
    np.testing.assert_allclose(got[:2], 2.0**52, rtol=1e-6)
    assert 0 <= got[2] <= 10
