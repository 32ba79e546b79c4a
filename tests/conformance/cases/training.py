"""paddle.amp, paddle.autograd, gradients, recomputation."""

CUBE = """class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, scale=1.0):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * x * scale

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return 3 * x * x * g * ctx.scale


"""

TRAIN = """w = parameter([1.0, 2.0], 'w')
o = paddle.optimizer.SGD(0.1, [w])
s = paddle.amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=1, decr_every_n_nan_or_inf=1)
"""


def with_cube(*programs):
    """Cases that begin with a PyLayer."""
    return [CUBE + p for p in programs]


def with_scaler(*programs):
    """Cases that begin with a parameter ``w``, an optimiser ``o`` and a scaler ``s``."""
    return [TRAIN + p for p in programs]


CASES = {
    "paddle.amp": ["public(paddle.amp)", "paddle.amp.is_float16_supported()", "paddle.amp.is_bfloat16_supported()", "signature(paddle.amp.auto_cast)", "[paddle.is_autocast_enabled(), paddle.get_autocast_cpu_dtype()] if hasattr(paddle, 'is_autocast_enabled') else None"],
    "paddle.amp.auto_cast": ["with paddle.amp.auto_cast(enable=False):\n    y = paddle.matmul(R([2, 3]), R([3, 2]))\nstr(y.dtype)", "with paddle.amp.auto_cast(dtype='bfloat16', custom_black_list=['matmul']):\n    y = paddle.matmul(R([2, 3]), R([3, 2]))\nstr(y.dtype)",
        "with paddle.amp.auto_cast(dtype='bfloat16'):\n    y = paddle.exp(T([1.0], 'bfloat16'))\nstr(y.dtype)", "with paddle.amp.auto_cast(level='O5'):\n    y = R([1])", "with paddle.amp.auto_cast(dtype='int8'):\n    y = R([1])", "with paddle.amp.auto_cast(dtype='bfloat16', level='O2'):\n    y = F.softmax(R([2, 3]))\nstr(y.dtype)",
        "with paddle.amp.auto_cast(dtype='bfloat16'):\n    y = fixed(nn.Linear(3, 2))(R([2, 3]))\n    y.sum().backward()\nstr(y.dtype)", "with paddle.amp.auto_cast(level='O0', dtype='bfloat16'):\n    y = paddle.matmul(R([2, 3]), R([3, 2]))\nstr(y.dtype)", "with paddle.amp.auto_cast(custom_white_list=['exp'], custom_black_list=['exp'], dtype='bfloat16'):\n    y = 1"],
    "paddle.amp.GradScaler": ["paddle.amp.GradScaler(enable=False).scale(T([2.0]))", "signature(paddle.amp.GradScaler)", "s = paddle.amp.GradScaler()\n[s.is_use_dynamic_loss_scaling(), s.get_incr_ratio(), s.get_decr_ratio(), s.get_incr_every_n_steps(), s.get_decr_every_n_nan_or_inf()]",
        "s = paddle.amp.GradScaler()\ns.set_incr_ratio(3.0)\ns.get_incr_ratio()"],
    "paddle.amp.GradScaler.step": with_scaler("s.scale((w * w).sum()).backward()\ns.unscale_(o)\ng = w.grad.clone()\ns.step(o)\ns.update()\n[w, g]", "s.step(3)", ),
    "paddle.amp.decorate": ["n = nn.Linear(2, 2)\nm, o = paddle.amp.decorate(n, paddle.optimizer.SGD(0.1, n.parameters()), level='O2', dtype='bfloat16')\n[m is n, type(o).__name__]", "paddle.amp.decorate(nn.Linear(2, 2), level='O1') is not None", "paddle.amp.decorate(nn.Linear(1, 1), level='O5')",
        "signature(paddle.amp.decorate)", "[type(m).__name__ for m in paddle.amp.decorate([nn.Linear(1, 1), nn.ReLU()], level='O2', dtype='bfloat16')]", "n = paddle.amp.decorate(nn.Linear(2, 2), level='O2', dtype='bfloat16', save_dtype='float32')\n[str(v.dtype) for v in n.state_dict().values()]"],
    "paddle.autograd": ["public(paddle.autograd)", "x = T([1.0, 2.0], grad=True)\npaddle.autograd.jacobian((x * x), x)[:]", "x = T([1.0, 2.0], grad=True)\npaddle.autograd.hessian((x * x * x).sum(), x)[:]", "x = T([2.0], grad=True)\npaddle.autograd.backward([x * x, x * 3], [T([1.0]), T([2.0])])\nx.grad", "x = T([2.0], grad=True)\nwith paddle.autograd.saved_tensors_hooks(lambda v: v + 1, lambda v: v):\n    y = x * x\ny.backward()\nx.grad"],
    "paddle.autograd.PyLayer": with_cube("Cube.apply(T([2.0])).stop_gradient", "x = T([2.0], grad=True)\nwith paddle.no_grad():\n    y = Cube.apply(x)\ny.stop_gradient", "class Bad(paddle.autograd.PyLayer):\n    pass\nBad.apply(T([1.0]))",
        "class Two(paddle.autograd.PyLayer):\n    @staticmethod\n    def forward(ctx, x, y):\n        return x * y, x + y\n    @staticmethod\n    def backward(ctx, a, b):\n        return a, b\nx = T([2.0], grad=True)\ny = T([3.0], grad=True)\na, b = Two.apply(x, y)\n(a * 2 + b * 5).backward()\n[x.grad, y.grad]", "class Bad(paddle.autograd.PyLayer):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g, g\nx = T([2.0], grad=True)\nBad.apply(x).backward()\nx.grad",
        "class S(paddle.autograd.PyLayer):\n    @staticmethod\n    def forward(ctx, x):\n        y = x.detach()\n        ctx.mark_non_differentiable(y)\n        return x * 2, y\n    @staticmethod\n    def backward(ctx, g, h):\n        return g\nx = T([2.0], grad=True)\n[v.stop_gradient for v in S.apply(x)]"),
    "paddle.autograd.PyLayerContext.save_for_backward": with_cube("seen = []\nclass K(paddle.autograd.PyLayer):\n    @staticmethod\n    def forward(ctx, x):\n        seen.append(ctx.save_for_backward(x, None))\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        seen.append([type(v).__name__ for v in ctx.saved_tensor()])\n        return g\nx = T([2.0], grad=True)\nK.apply(x).backward()\nseen"),
    "paddle.autograd.PyLayerContext.saved_tensor": with_cube("seen = []\nclass K(paddle.autograd.PyLayer):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        seen.append(ctx.saved_tensor())\n        return g\nx = T([2.0], grad=True)\nK.apply(x).backward()\nseen",
        "seen = []\nclass K(paddle.autograd.PyLayer):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        seen.append([type(ctx.saved_tensor()).__name__, len(ctx.saved_tensor())])\n        return g\nx = T([2.0], grad=True)\nK.apply(x).backward()\nseen"),
    "paddle.no_grad": ["x = T([1.0], grad=True)\nwith paddle.no_grad():\n    y = x * 2\ny.stop_gradient", "@paddle.no_grad()\ndef f(x):\n    return x * 2\nf(T([1.0], grad=True)).stop_gradient", "@paddle.no_grad\ndef f(x):\n    return x * 2\nf(T([1.0], grad=True)).stop_gradient", "with paddle.no_grad():\n    with paddle.enable_grad():\n        y = T([1.0], grad=True) * 2\ny.stop_gradient", "with paddle.no_grad():\n    e = paddle.is_grad_enabled()\n[e, paddle.is_grad_enabled()]", "@paddle.no_grad()\ndef g():\n    yield T([1.0], grad=True) * 2\n[v.stop_gradient for v in g()]"],
    "paddle.grad": ["x = T([2.0], grad=True)\npaddle.grad(x * x, x)", "x = T([2.0], grad=True)\ng, = paddle.grad(x ** 3, x, create_graph=True)\npaddle.grad(g, x)", "x = T([2.0], grad=True)\npaddle.grad([x * x], [x], grad_outputs=[T([3.0])])", "x, y = T([2.0], grad=True), T([1.0], grad=True)\npaddle.grad(x * x, [x, y])", "x, y = T([2.0], grad=True), T([1.0], grad=True)\npaddle.grad(x * x, [x, y], allow_unused=True)", "x = T([2.0], grad=True)\ny = x * x\npaddle.grad(y * x, x, no_grad_vars=[y])", "x = T([2.0], grad=True)\ny = x * x\npaddle.grad(y, x, retain_graph=True)\npaddle.grad(y, x)", "x = T([2.0], grad=True)\npaddle.grad(x * x, x)\nx.grad", "paddle.grad(3, T([1.0]))"],
    "paddle.distributed.fleet.utils.recompute": ["n = fixed(nn.Linear(2, 2))\nx = R([3, 2])\nx.stop_gradient = False\npaddle.distributed.fleet.utils.recompute(n, x).sum().backward()\n[x.grad, n.weight.grad]", "x = T([2.0], grad=True)\npaddle.distributed.fleet.utils.recompute(lambda a: a * a, x).backward()\nx.grad", "x = T([2.0], grad=True)\npaddle.distributed.fleet.utils.recompute(lambda a, k: a * k, x, k=3.0)", "x = T([2.0], grad=True)\npaddle.distributed.fleet.utils.recompute(lambda a: a * a, x, use_reentrant=False).backward()\nx.grad",
        "x = T([2.0], grad=True)\npaddle.distributed.fleet.utils.recompute(lambda a: (a * a, a + 1), x)", "signature(paddle.distributed.fleet.utils.recompute)", "paddle.distributed.fleet.utils.recompute(3, R([2]))", "x = R([50])\nx.stop_gradient = False\ny = paddle.distributed.fleet.utils.recompute(lambda a: F.dropout(a, 0.5), x, preserve_rng_state=True)\ny.sum().backward()\nbool(((y != 0) == (x.grad != 0)).all())"],
    "paddle.seed": ["paddle.seed(3)\na = paddle.rand([3])\npaddle.seed(3)\nbool((a == paddle.rand([3])).all())", "type(paddle.seed(1)).__name__", "paddle.seed('a')", "paddle.seed(7)\npaddle.get_rng_state() is not None", "type(paddle.seed(2.7)).__name__"],
}  # fmt: skip

# With create_graph a gradient that is a constant is part of a graph too.
CASES["paddle.grad"] += [
    f"x = T([[1.0, 2.0], [3.0, 4.0]], grad=True)\ng, = paddle.grad(({f}).sum(), x, create_graph=True)\n[g, g.is_leaf]"
    for f in ("x * 3", "x + 3", "-x", "x.t()", "x.mean()", "x[0]", "F.relu(x)", "paddle.matmul(x, paddle.ones([2, 2]))", "paddle.concat([x, x])", "x * x")
]
CASES["paddle.grad"] += [
    "x = T([1.0, 2.0], grad=True)\ng, = paddle.grad((x * 3).sum(), x, create_graph=True)\n[paddle.grad(g.sum(), x, allow_unused=True), g.add_(g)]",
    "x = T([1.0, 2.0], grad=True)\ng, = paddle.grad((x * 3).sum(), x, create_graph=True)\ng.sum().backward()\nx.grad", "x = T([3.0])\npaddle.grad(x, x)",
]

DIFFERS = {
    "official switches mixed precision and loss scaling off on this processor; ours computes in bfloat16 on CPUs": {
        "paddle.amp.auto_cast": ["with paddle.amp.auto_cast(dtype='bfloat16'):\n    y = paddle.matmul(R([2, 3]), R([3, 2]))\nstr(y.dtype)", "with paddle.amp.auto_cast(dtype='bfloat16', level='O2'):\n    y = R([2, 3]) + R([2, 3])\nstr(y.dtype)", "with paddle.amp.auto_cast(dtype='bfloat16', custom_white_list=['elementwise_add']):\n    y = R([2, 3]) + R([2, 3])\nstr(y.dtype)"],
        "paddle.amp.GradScaler": ["s = paddle.amp.GradScaler(init_loss_scaling=4.0)\n[s.is_enable(), s.get_init_loss_scaling(), s.scale(T([2.0]))]", "paddle.amp.GradScaler().state_dict()", "s = paddle.amp.GradScaler()\ns.load_state_dict(paddle.amp.GradScaler(init_loss_scaling=2.0).state_dict())\ns.scale(T([1.0]))", "paddle.amp.GradScaler(incr_ratio=0.5)", "paddle.amp.GradScaler(decr_ratio=2.0)"],
        "paddle.amp.GradScaler.step": with_scaler("s.scale((w * w).sum()).backward()\ns.step(o)\ns.update()\n[w, s.state_dict()]", "s.scale((w * w).sum()).backward()\ns.minimize(o, (w * w).sum())\n[w, s.state_dict()]", "(w * T([float('inf'), 1.0])).sum().backward()\ns.step(o)\ns.update()\n[w, s.state_dict()]", "s.scale((w * w).sum()).backward()\ns.unscale_(o)\ns.unscale_(o)", "s.scale((w * w).sum()).backward()\ns.step(o)\ns.step(o)"),
        "paddle.amp.decorate": ["n = paddle.amp.decorate(nn.Linear(2, 2), level='O2', dtype='bfloat16')\n[str(p.dtype) for p in n.parameters()]", "paddle.amp.decorate(3, level='O2', dtype='bfloat16')", "n = paddle.amp.decorate(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2)), level='O2', dtype='bfloat16')\n[str(p.dtype) for p in n.parameters()]", "n = paddle.amp.decorate(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)), level='O2', dtype='bfloat16', excluded_layers=[nn.LayerNorm])\n[str(p.dtype) for p in n.parameters()]"],
    },
    "gradients that leaves collect say the same, however they were computed": {
        "paddle.autograd.PyLayer": with_cube("x = T([2.0], grad=True)\ny = Cube.apply(x)\ny.backward()\n[y, x.grad]", "x = T([2.0], grad=True)\ny = Cube.apply(x, scale=2.0)\ny.backward()\n[y, x.grad]"),
        "paddle.autograd.PyLayerContext.save_for_backward": with_cube("x = T([3.0], grad=True)\nCube.apply(x).backward()\nx.grad", "class K(paddle.autograd.PyLayer):\n    @staticmethod\n    def forward(ctx, x, y):\n        ctx.save_for_backward(x, y)\n        return x * y\n    @staticmethod\n    def backward(ctx, g):\n        x, y = ctx.saved_tensor()\n        return g * y, g * x\nx, y = T([2.0], grad=True), T([5.0], grad=True)\nK.apply(x, y).backward()\n[x.grad, y.grad]"),
        "paddle.autograd.PyLayerContext.saved_tensor": with_cube("x = T([3.0, 1.0], grad=True)\nCube.apply(x, 0.5).sum().backward()\nx.grad"),
    },
}  # fmt: skip
