"""What nobody can reach any more is freed: tensors, models and programs whose objects refer to each other through the graph of
gradients, too. Counted in bytes that tensors take, which is exact."""

import gc

import numpy as np
import paddle
import pytest

SIZE = 1 << 18  # of float32: one MiB


def large(needs_gradient=False):
    x = paddle.ones([SIZE])
    x.stop_gradient = not needs_gradient
    return x


class Weighted(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([SIZE])

    def forward(self, x):
        return (x * self.weight).sum()


class SavesOutput(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = paddle.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensor()
        return gradient * y


class KeepsOutputs(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.first, ctx.others = x * x, [x * 3.0]
        return ctx.first, ctx.others[0]

    @staticmethod
    def backward(ctx, first, second):
        return first * ctx.others[0] * (2.0 / 3.0) + second * 3.0


def saved_output():
    SavesOutput.apply(large(True)).sum().backward()


def kept_outputs():
    KeepsOutputs.apply(large(True))


def hook_of_its_own_tensor():
    y = large(True) * 2
    y.register_hook(lambda gradient: gradient * y)


def hook_of_a_leaf():
    x = large(True)
    x.register_hook(lambda gradient: gradient * x)
    x.sum().backward()


def hook_of_a_leaf_on_its_result():
    x = large(True)
    y = x.exp()
    x.register_hook(lambda gradient: gradient * y)


def hook_on_what_two_paths_lead_to():
    x = large(True)
    y = x.exp()
    y = y * y + y.sin()
    x.register_hook(lambda gradient: gradient * y)


def hook_of_a_parameter():
    layer = Weighted()
    layer.weight.register_hook(lambda gradient: gradient if layer else None)
    layer(large()).backward()


def call_after_accumulation():
    layer = Weighted()
    layer.weight._register_backward_hook(lambda: layer)
    layer(large()).backward()


def saved_tensors_hooks():
    seen = []
    with paddle.autograd.saved_tensors_hooks(lambda t: (t.numpy(), seen), lambda kept: paddle.to_tensor(kept[0])):
        y = large(True).exp()
    seen.append(y)


def attribute_of_a_leaf():
    x = large(True)
    x.result = x.exp()  # x lives on as a part of the graph, with its attributes


def gradient_of_a_gradient():
    x = large(True)
    (gradient,) = paddle.grad((x**3).sum(), x, create_graph=True)
    x.kept = gradient


def retained_gradient():
    y = large(True) * 2
    y.retain_grads()
    y.sum().backward()


def static_layer():
    paddle.jit.to_static(Weighted())(large()).backward()


def failed_capture():
    layer = Weighted()
    try:
        paddle.jit.to_static(lambda x: paddle.reshape(layer(x), [3, 3]))(large())
    except ValueError as error:
        layer.error = error


CASES = [saved_output, kept_outputs, hook_of_its_own_tensor, hook_of_a_leaf, hook_of_a_leaf_on_its_result,
         hook_on_what_two_paths_lead_to, hook_of_a_parameter, call_after_accumulation, saved_tensors_hooks,
         attribute_of_a_leaf, gradient_of_a_gradient, retained_gradient, static_layer, failed_capture]  # fmt: skip


def taken():
    gc.collect()
    return paddle.device.memory_allocated("cpu") // (SIZE * 4)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_is_freed(case):
    case()
    before = taken()
    for _ in range(3):
        case()
    assert taken() == before


def test_outputs_that_a_context_keeps_need_no_collector():
    gc.collect()
    before = paddle.device.memory_allocated("cpu") // (SIZE * 4)
    gc.disable()
    try:
        saved_output()
        kept_outputs()
        assert paddle.device.memory_allocated("cpu") // (SIZE * 4) == before
    finally:
        gc.enable()


def test_what_is_reachable_stays():
    x = paddle.ones([3])
    x.stop_gradient = False
    calls = []
    y = x * 2
    y.register_hook(lambda gradient: calls.append(y) or gradient * y)
    z = SavesOutput.apply(y) + KeepsOutputs.apply(y)[1]
    gc.collect()
    z.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (np.exp(2.0) + 3) * 2 * 2, rtol=1e-6)
    assert calls[0] is y


@pytest.mark.parametrize("layer, second", [(SavesOutput, np.exp(0.5)), (KeepsOutputs, 2.0)])
def test_kept_outputs_have_a_history_in_a_recorded_backward(layer, second):
    x = paddle.full([3], 0.5)
    x.stop_gradient = False
    result = layer.apply(x)
    y = result[0] if isinstance(result, tuple) else result
    (first,) = paddle.grad(y.sum(), x, create_graph=True)
    (derivative,) = paddle.grad(first.sum(), x)
    np.testing.assert_allclose(derivative.numpy(), second, rtol=1e-6)


def test_a_hook_may_remove_itself_and_others():
    x = paddle.ones([2])
    x.stop_gradient = False
    for tensor in (x, x * 1):
        x.clear_gradient(False)
        handles, calls = [], []

        def hook(gradient, calls=calls, handles=handles):
            calls.append(len(calls))
            for handle in handles:
                handle.remove()
            return gradient * 2

        handles += [tensor.register_hook(hook) for _ in range(3)]
        tensor.sum().backward()
        assert calls == [0, 1, 2] and x.grad.tolist() == [8, 8]
        x.clear_gradient(False)
        (tensor * 1).sum().backward() if tensor is x else None
        assert calls == [0, 1, 2]


def test_a_retained_gradient_of_a_tensor_that_is_gone():
    x = paddle.ones([2])
    x.stop_gradient = False
    y = x * 2
    y.retain_grads()
    z = (y + 1).sum()
    del y
    z.backward()
    assert x.grad.tolist() == [2, 2]
