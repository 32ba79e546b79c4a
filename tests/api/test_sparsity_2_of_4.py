"""paddle.incubate.asp: masks against their definitions, pruning, optimisers that keep it."""

import itertools

import numpy as np
import pytest

paddle = pytest.importorskip("paddle")
from paddle.incubate import asp  # noqa: E402


def test_masks_have_the_sparsity_and_keep_the_most():
    rng = np.random.default_rng(0)
    mat = rng.normal(size=(6, 10))
    one = asp.get_mask_1d(mat, 2, 4)
    assert asp.check_mask_1d(one * mat, 2, 4) and not asp.check_mask_1d(mat, 2, 4)
    for row, kept in zip(mat[:, :8].reshape(-1, 4), one[:, :8].reshape(-1, 4)):
        assert abs(row * kept).sum() == max(abs(row[list(c)]).sum() for c in itertools.combinations(range(4), 2))
    for make in (asp.get_mask_2d_greedy, asp.get_mask_2d_best):
        mask = make(mat, 2, 4)
        assert mask.shape == mat.shape and asp.check_mask_2d(mask * mat, 2, 4)
    block = np.array([[9, 8, 3, 7], [9, 2, 1, 10], [5, 1, 3, 6], [2, 4, 6, 1]])
    rows = [r for r in itertools.product((0, 1), repeat=4) if sum(r) == 2]
    best = max(np.sum(block * p) for p in itertools.product(rows, repeat=4) if (np.sum(p, 0) == 2).all())
    assert (block * asp.get_mask_2d_best(block, 2, 4)).sum() == best
    assert asp.calculate_density(np.array([[0, 1, 3, 0], [1, 1, 0, 1]])) == 0.625


@pytest.mark.parametrize("algorithm", ["mask_1d", "mask_2d_greedy", "mask_2d_best"])
def test_training_keeps_zeros(algorithm):
    paddle.seed(3)
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(4, 8, 3, padding=1), paddle.nn.Flatten(), paddle.nn.Linear(32, 8), paddle.nn.Linear(8, 3)
    )
    optimizer = asp.decorate(paddle.optimizer.Momentum(0.1, parameters=net.parameters()))
    asp.set_excluded_layers([net[3].weight.name])
    masks = asp.prune_model(net, mask_algo=algorithm)
    asp.reset_excluded_layers()
    assert set(masks) == {net[0].weight.name, net[2].weight.name}
    for _ in range(3):
        net(paddle.rand([2, 4, 2, 2])).square().sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    assert 0.4 < asp.calculate_density(net[2].weight.numpy()) <= 0.5 and asp.calculate_density(net[3].weight.numpy()) == 1.0
    assert asp.check_mask_1d(net[2].weight.numpy().T, 2, 4)
    with pytest.raises(AssertionError):
        asp.prune_model(net, mask_algo="nonsense")
    with pytest.raises(TypeError):
        asp.prune_model(paddle.ones([2]))
