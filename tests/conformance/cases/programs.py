"""paddle.jit, paddle.static, paddle.inference."""

STATIC = """paddle.enable_static()
main, start = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, start):
    x = paddle.static.data('x', [None, 3], 'float32')
    y = x * 2 + 1
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(start)
"""

SAVED = """folder()
net = fixed(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
net.eval()
paddle.jit.save(net, 'm/net', input_spec=[paddle.static.InputSpec([None, 3], 'float32', name='x')])
"""


def static(*programs):
    """Cases that begin with a static program of ``y = 2x + 1``."""
    return [STATIC + p for p in programs]


def saved(*programs):
    """Cases that begin with a saved network."""
    return [SAVED + p for p in programs]


PREDICTED = """config = paddle.inference.Config('m/net.json', 'm/net.pdiparams')
p = paddle.inference.create_predictor(config)
h = p.get_input_handle(p.get_input_names()[0])
h.reshape([2, 3])
h.copy_from_cpu(np.arange(6, dtype='float32').reshape(2, 3))
p.run()
o = p.get_output_handle(p.get_output_names()[0])
"""

CASES = {
    "paddle.jit": ["public(paddle.jit)", "signature(paddle.jit.to_static)", "signature(paddle.jit.save)", "paddle.jit.enable_to_static(True)", "[paddle.jit.set_verbosity(0), paddle.jit.set_code_level(0)]"],
    "paddle.jit.to_static": ["f = paddle.jit.to_static(lambda x: x * 2)\nf(R([3]))", "@paddle.jit.to_static\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n[f(T([1.0])), f(T([-1.0]))]", "@paddle.jit.to_static(full_graph=True)\ndef f(x):\n    s = x\n    while s.sum() < 10:\n        s = s * 2\n    return s\nf(T([1.0]))", "n = paddle.jit.to_static(fixed(nn.Linear(2, 3)))\nn(R([4, 2]))", "@paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None, 2], 'float32')])\ndef f(x):\n    return x + 1\n[f(R([3, 2])), f(R([1, 2]))]",
        "x = T([2.0], grad=True)\npaddle.jit.to_static(lambda v: v * v * v)(x).backward()\nx.grad", "@paddle.jit.to_static\ndef f(x, k=2):\n    for i in range(k):\n        x = x + i\n    return x\n[f(T([1.0])), f(T([1.0]), 4)]", "paddle.jit.to_static(fixed(Net()))(R([4, 2]))"],
    "paddle.jit.not_to_static": ["@paddle.jit.not_to_static\ndef f(x):\n    return x * 2\nf(R([2]))", "def g(x):\n    return x + 1\npaddle.jit.not_to_static(g) is g", "@paddle.jit.not_to_static\ndef inner(x):\n    return x * 3\n@paddle.jit.to_static\ndef f(x):\n    return inner(x) + 1\nf(R([2]))", "signature(paddle.jit.not_to_static)"],
    "paddle.jit.save": saved("sorted(__import__('os').listdir('m'))", "paddle.jit.load('m/net')(R([2, 3]))", "sorted(list(v.shape) for v in paddle.jit.load('m/net').parameters())", "paddle.jit.save(3, 'x')", "paddle.jit.save(nn.Linear(3, 2), 'y/net')", "f = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([2], 'float32')])\npaddle.jit.save(f, 'f')\npaddle.jit.load('f')(R([2]))", "paddle.jit.load('missing')"),
    "paddle.static": static("public(paddle.static)", "[paddle.static.default_main_program() is main, type(main).__name__]", ),
    "paddle.static.InputSpec": ["str(paddle.static.InputSpec([None, 3], 'float32', 'x'))", "s = paddle.static.InputSpec([None, 3])\n[s.shape, str(s.dtype), s.name]", "str(paddle.static.InputSpec.from_tensor(R([2, 3])))", "str(paddle.static.InputSpec.from_numpy(np.ones((2, 3), 'float32'), name='n'))", "paddle.static.InputSpec([2]) == paddle.static.InputSpec([2])", "s = paddle.static.InputSpec([2, 3], 'int64', 'x')\n[s.batch(4).shape, s.unbatch().shape]", "paddle.static.InputSpec('a')", "paddle.static.InputSpec([2], 'x')", "signature(paddle.static.InputSpec)", "paddle.static.InputSpec([-1, 'a'])", "paddle.static.InputSpec([2], stop_gradient=True).stop_gradient"],
    "paddle.static.Executor": static("exe.run(main, feed={'x': np.ones((2, 3), 'float32')}, fetch_list=[y])", "exe.run(main, feed={'x': np.ones((1, 3), 'float32')}, fetch_list=[y, x])", "exe.run(main, feed={}, fetch_list=[y])", "exe.run(main, feed={'x': np.ones((2, 3), 'float32')}, fetch_list=[])", "exe.run(3)", "exe.close()", "signature(paddle.static.Executor)", "exe.run(main, feed=[1], fetch_list=[y])"),
    "paddle.enable_static": ["paddle.enable_static()\npaddle.in_dynamic_mode()", "paddle.enable_static()\npaddle.disable_static()\npaddle.in_dynamic_mode()", "signature(paddle.enable_static)", "paddle.enable_static()\nlist(paddle.zeros([2, 3]).shape)"],
    "paddle.in_dynamic_mode": ["paddle.in_dynamic_mode()", "paddle.enable_static()\npaddle.in_dynamic_mode()", "paddle.in_dynamic_mode(1)"],
    "paddle.inference": ["public(paddle.inference, without='_get_phi_kernel_name')", "paddle.inference.get_num_bytes_of_data_type(paddle.inference.DataType.FLOAT32)", "type(paddle.inference.get_version()).__name__", "lacking(paddle.inference, 'Config Predictor PredictorPool Tensor create_predictor convert_to_mixed_precision')"],
    "paddle.inference.Config": saved("c = paddle.inference.Config('m/net.json', 'm/net.pdiparams')\n[c.prog_file(), c.params_file(), c.use_gpu(), c.ir_optim()]", "c = paddle.inference.Config('m/net')\nc.prog_file()", "c = paddle.inference.Config()\nc.set_prog_file('a')\nc.prog_file()", "c = paddle.inference.Config()\nc.switch_ir_optim(False)\nc.set_cpu_math_library_num_threads(2)\n[c.ir_optim(), c.cpu_math_library_num_threads()]", "c = paddle.inference.Config()\nc.disable_gpu()\nc.enable_memory_optim()\n[c.use_gpu(), c.enable_memory_optim()]", "c = paddle.inference.Config('m/net.json', 'm/net.pdiparams')\nc.enable_use_gpu(100, 0)\nc.use_gpu()",
        "lacking(paddle.inference.Config, 'enable_mkldnn disable_glog_info switch_use_feed_fetch_ops switch_specify_input_names enable_tensorrt_engine delete_pass pass_builder summary model_dir set_model exp_disable_tensorrt_ops enable_new_ir enable_new_executor')"),
    "paddle.inference.create_predictor": saved(PREDICTED + "o.copy_to_cpu()", PREDICTED + "[p.get_input_names(), o.shape()]", PREDICTED + "[len(v) for v in (p.get_output_names(), p.get_input_names())]", "paddle.inference.create_predictor(3)", PREDICTED + "p.run([T(np.ones((1, 3), 'float32'))])[0].shape", PREDICTED + "q = p.clone()\nq.get_input_names() == p.get_input_names()", "paddle.inference.create_predictor(paddle.inference.Config('missing.json', 'missing.pdiparams'))"),
}  # fmt: skip

CASES["paddle.static"] += static("[v.shape for v in (x, y)]", "with paddle.static.program_guard(main):\n    z = paddle.static.nn.fc(x, 2)\nlist(z.shape)")  # open sizes are -1

DIFFERS = {
    "a class of another name": {
        "paddle.jit.save": saved("type(paddle.jit.load('m/net')).__name__"),
        "paddle.enable_static": ["paddle.enable_static()\ntype(paddle.ones([2])).__name__"],
        "paddle.inference": ["[str(t) for t in (paddle.inference.PrecisionType.Float32, paddle.inference.PlaceType.CPU)]"],
        "paddle.inference.create_predictor": saved(PREDICTED + "type(p).__name__"),
    },
    "results that are no arrays are tensors": {
        "paddle.static.Executor": static("exe.run(main, feed={'x': np.ones((2, 3), 'float32')}, fetch_list=[y], return_numpy=False)[0].shape()"),
    },
    "a capture is no dynamic mode, as with full_graph": {
        "paddle.in_dynamic_mode": ["seen = []\n@paddle.jit.to_static\ndef f(x):\n    seen.append(paddle.in_dynamic_mode())\n    return x\nf(R([2]))\nseen"],
    },
}  # fmt: skip
