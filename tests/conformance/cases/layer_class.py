"""paddle.nn.Layer: what every layer can do."""

def on_net(*expressions):
    """Cases that begin with a small network."""
    return ["net = fixed(Net())\n" + e for e in expressions]


CASES = {
    "paddle.nn.Layer": on_net(
        "described(net)", "str(net)", "nn.Layer()(R([2]))", "net.full_name()", "nn.Layer('scope').full_name()", "net.missing",
        "net.a = 3\nstr(net)", "net.c = net.create_parameter([2])\ndescribed(net)", "del net.a\nlist(net.state_dict())",
        "class Bad(nn.Layer):\n    def __init__(self):\n        self.a = nn.Linear(1, 1)\nBad()", "hasattr(net, 'a'), hasattr(net, 'z')", "sorted(n for n in dir(net) if n in ('a', 'b'))",
        "net.training, nn.Layer().training", "layer(Net(), R([4, 2]))",
    ),
    "paddle.nn.Layer.create_parameter": [
        "nn.Layer().create_parameter([2, 3]).shape", "nn.Layer().create_parameter([2], is_bias=True)", "nn.Layer().create_parameter([2], attr=False)",
        "p = nn.Layer().create_parameter([2], attr=paddle.ParamAttr('q', trainable=False), default_initializer=nn.initializer.Constant(2.0))\n[p, p.name, p.trainable]",
        "nn.Layer().create_parameter(shape=[2], dtype='float64', default_initializer=nn.initializer.Constant(1.5))", "type(nn.Layer().create_parameter([1])).__name__",
        "nn.Layer().create_parameter([2], attr='named').name", "nn.Layer().create_parameter([2], attr=3)",
        "nn.Layer().create_parameter([2], attr=nn.initializer.Constant(3.0))", "statistics(nn.Layer().create_parameter([40, 40]), -0.28, 0.28)",
        "p = nn.Layer().create_parameter([3])\n[p.stop_gradient, p.persistable, p.is_leaf, p.optimize_attr, p.need_clip]",
    ],
    "paddle.nn.Layer.state_dict": on_net(
        "list(net.state_dict())", "net.state_dict()", "list(net.state_dict(include_sublayers=False))", "list(net.state_dict(structured_name_prefix='m.'))",
        "list(net.state_dict(use_hook=False))", "type(net.state_dict()).__name__", "net.state_dict()['a.weight'] is net.a.weight", "nn.Layer().state_dict()",
        "net.register_buffer('no', T([1.0]), persistable=False)\nlist(net.state_dict())",
    ),
    "paddle.nn.Layer.set_state_dict": on_net(
        "other = Net()\n[other.set_state_dict(net.state_dict()), other.state_dict()]", "net.set_state_dict({'a.weight': np.ones((2, 3), 'float32')}), net.a.weight",
        "net.set_state_dict({'x': T([1.0])})", "net.set_state_dict({'a.weight': T([1.0])}), net.a.weight", "net.set_state_dict({})", "net.set_state_dict([1])",
        "net.load_dict(Net().state_dict())", "net.set_state_dict({net.a.weight.name: paddle.ones([2, 3])}, use_structured_name=False), net.a.weight",
        "net.set_state_dict({'a.bias': T([1, 2, 3])}), net.a.bias",
    ),
    "paddle.nn.Layer.set_dict": on_net(
        "net.set_dict({'a.bias': T([1.0, 2.0, 3.0])}), net.a.bias", "other = Net()\nother.set_dict(net.state_dict())\nother.a.weight",
        "net.set_dict({'zz': T([1.0])})",
    ),
    "paddle.nn.Layer.eval": on_net("[net.eval() is net, net.training, net.b[1].training]", "net.eval()\nnet(R([4, 2]))", "nn.Dropout(0.9).eval()(R([4]))"),
    "paddle.nn.Layer.train": on_net(
        "net.eval()\n[net.train() is net, net.training, net.b[1].training]", "net.eval()\nnet.train()\nnet(R([4, 2]))", "net.train(False)\nnet.training",
        "net.train(mode=True)\nnet.training",
    ),
    "paddle.nn.Layer.add_sublayer": on_net(
        "type(net.add_sublayer('c', nn.Linear(1, 1))).__name__", "net.add_sublayer('c', nn.Linear(1, 1))\ndescribed(net)", "net.add_sublayer('c', 3)", "net.add_sublayer(name='d', sublayer=nn.ReLU())\nstr(net.d)",
        "net.add_sublayer('a', nn.ReLU())\nstr(net.a)", "net.add_sublayer(3, nn.ReLU())", "net.add_sublayer('x.y', nn.ReLU())\nsorted(net._sub_layers)",
    ),
    "paddle.nn.Layer.add_parameter": on_net(
        "net.add_parameter('w', net.create_parameter([2]))\ndescribed(net)", "net.add_parameter('w', None)\n[net.w, list(net.state_dict())]", "net.add_parameter('w', 3)",
        "net.add_parameter('', net.create_parameter([2]))", "net.add_parameter('x.y', net.create_parameter([2]))", "net.add_parameter('a', net.create_parameter([2]))",
        "net.add_parameter(4, net.create_parameter([2]))", "net.add_parameter('w', T([1.0]))", "p = net.create_parameter([2])\nnet.add_parameter('p', p) is p",
    ),
    "paddle.nn.Layer.register_buffer": on_net(
        "net.register_buffer('k', T([1.0]))\n[list(net.state_dict()), net.k]", "net.register_buffer('k', T([1.0]), persistable=False)\n[list(net.state_dict()), net.k]",
        "net.register_buffer('k', 3)", "net.register_buffer('k', None)\nnet.k", "net.register_buffer('x.y', T([1.0]))", "net.register_buffer('', T([1.0]))",
        "net.register_buffer('a', T([1.0]))", "net.register_buffer('k', T([1.0]))\nnet.k = T([2.0])\nnet.state_dict()['k']", "[k for k, _ in net.named_buffers()]", "net.register_buffer(1, T([1.0]))",
    ),
    "paddle.nn.Layer.parameters": on_net(
        "[p.name for p in net.parameters()]", "net.parameters(include_sublayers=False)", "net.c = net.a\nlen(net.parameters())", "nn.Layer().parameters()", "type(net.parameters()).__name__",
        "net.d = nn.Linear(1, 1)\nnet.d.weight = net.a.weight\nlen(net.parameters())",
    ),
    "paddle.nn.Layer.named_parameters": on_net(
        "[k for k, _ in net.named_parameters()]", "[k for k, _ in net.named_parameters(prefix='m')]", "[k for k, _ in net.named_parameters('', False)]",
        "net.c = net.a\n[k for k, _ in net.named_parameters()]", "net.c = net.a\n[k for k, _ in net.named_parameters(remove_duplicate=False)]",
    ),
    "paddle.nn.Layer.sublayers": on_net(
        "[type(l).__name__ for l in net.sublayers()]", "[type(l).__name__ for l in net.sublayers(include_self=True)]", "nn.Linear(1, 1).sublayers()",
        "net.c = net.a\nlen(net.sublayers())",
    ),
    "paddle.nn.Layer.named_sublayers": on_net(
        "[(k, type(l).__name__) for k, l in net.named_sublayers()]", "[k for k, _ in net.named_sublayers(prefix='m', include_self=True)]", "[k for k, _ in net.named_sublayers('p')]",
        "net.c = net.a\n[k for k, _ in net.named_sublayers()]", "net.c = net.a\n[k for k, _ in net.named_sublayers(remove_duplicate=False)]",
    ),
    "paddle.nn.Layer.children": on_net(
        "[type(l).__name__ for l in net.children()]", "[k for k, _ in net.named_children()]", "list(nn.ReLU().children())", "type(net.children()).__name__",
    ),
    "paddle.nn.Layer.apply": on_net(
        "seen = []\nr = net.apply(lambda l: seen.append(type(l).__name__))\n[seen, r is net]", "net.apply(lambda l: l.weight.set_value(paddle.ones([2, 3])) if isinstance(l, nn.Linear) else None)\nnet.a.weight",
        "nn.ReLU().apply(3)",
    ),
    "paddle.nn.Layer.forward": on_net("net.forward(R([4, 2]))", "nn.Layer().forward(R([2]))", "nn.Linear(2, 2).forward()", "fixed(nn.Linear(2, 2)).forward(input=R([2]))"),
    "paddle.nn.Layer.to": on_net(
        "net.to(dtype='float64')\n[str(p.dtype) for p in net.parameters()]", "net.to('cpu') is net", "net.to(dtype='float16')\n[str(b.dtype) for _, b in net.named_buffers()]",
        "net.to(device=paddle.CPUPlace(), dtype=paddle.bfloat16)\nstr(net.a.weight.dtype)", "net.to(dtype='x')", "net.to('xx')", "[str(p.dtype) for p in net.bfloat16().float().parameters()]",
    ),
    "paddle.nn.Layer.clear_gradients": on_net(
        "net(R([4, 2])).sum().backward()\nnet.clear_gradients(set_to_zero=False)\n[p.grad for p in net.parameters()]", "net.clear_gradients()",
    ),
    "paddle.nn.Layer.register_forward_pre_hook": on_net(
        "net.register_forward_pre_hook(lambda l, x: (x[0] * 2,))\nnet(R([4, 2]))", "net.register_forward_pre_hook(lambda l, x: x[0] * 2)\nnet(R([4, 2]))", "h = net.register_forward_pre_hook(lambda l, x: x[0] * 2)\nh.remove()\nnet(R([4, 2]))",
        "seen = []\nnet.register_forward_pre_hook(lambda l, x: seen.append(1))\nnet.register_forward_pre_hook(lambda l, x: seen.append(2), prepend=True)\nnet(R([4, 2]))\nseen", "net.register_forward_pre_hook(lambda l, x, k: (x, {'x': R([4, 2]) * 2}), with_kwargs=True)\nnet(x=R([4, 2]))",
        "type(net.register_forward_pre_hook(lambda l, x: None)).__name__",
    ),
    "paddle.nn.Layer.register_forward_post_hook": on_net(
        "net.register_forward_post_hook(lambda l, x, y: y * 2)\nnet(R([4, 2]))", "h = net.register_forward_post_hook(lambda l, x, y: y * 2)\nh.remove()\nnet(R([4, 2]))",
        "seen = []\nnet.a.register_forward_post_hook(lambda l, x, y: seen.append([len(x), list(y.shape)]))\nnet(R([4, 2]))\nseen", "net.register_forward_post_hook(lambda l, x, k, y: y + len(k), with_kwargs=True)\nnet(x=R([4, 2]))",
        "seen = []\nnet.register_forward_post_hook(lambda l, x, y: seen.append(1))\nnet.register_forward_post_hook(lambda l, x, y: seen.append(2), prepend=True)\nnet(R([4, 2]))\nseen",
    ),
}  # fmt: skip

CASES["paddle.nn.Layer.create_parameter"] += [
    "net = fixed(Net())\nl = nn.Layer(dtype='float64')\nl.create_parameter([2]).dtype", "paddle.set_default_dtype('float64')\nstr(nn.Layer().create_parameter([2]).dtype)",
    "paddle.set_default_dtype('float64')\n[str(p.dtype) for p in Net().parameters()]",
]

DIFFERS = {
    "official leaves layers as they are where no GPU would compute in the dtype, float64 too; ours computes in it": {
        "paddle.nn.Layer.to": on_net("[str(p.dtype) for p in net.float16().parameters()]", "net.astype('float64')\nstr(net.a.bias.dtype)"),
    },
    "zeros after clearing are nobody's leaf": {
        "paddle.nn.Layer.clear_gradients": on_net("net(R([4, 2])).sum().backward()\nnet.clear_gradients()\n[p.grad for p in net.parameters()]"),
    },
}  # fmt: skip
