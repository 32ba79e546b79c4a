"""What a trace does to layers' classes: nothing that Python would have to learn again."""

import paddle
from paddle import nn


def test_a_trace_leaves_the_class_alone():
    class Inner(nn.Layer):
        def forward(self, x):
            return x + 1 if x.sum() > 0 else x - 1

    class Outer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inside = nn.Sequential(Inner(), Inner())  # called by the library's own code

        def forward(self, x):
            return self.inside(x)

    call = nn.Layer.__dict__["__call__"]
    seen_while_traced = []
    layer = Outer()
    layer.inside[0].register_forward_post_hook(
        lambda *_: seen_while_traced.append(nn.Layer.__dict__["__call__"] is call)
    )
    static = paddle.jit.to_static(layer, full_graph=True)
    assert float(static(paddle.to_tensor([1.0]))) == 3 and float(static(paddle.to_tensor([-3.0]))) == -5
    assert seen_while_traced and all(seen_while_traced)
    assert nn.layer.layers.while_traced is None
