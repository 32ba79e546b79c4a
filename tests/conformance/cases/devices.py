"""Dtypes, places, devices, versions, and modules by what they offer."""

DTYPES = "float32 float64 float16 int64 int32 int16 int8 uint8 bool".split()
MODULES = ("nn nn.functional nn.initializer optimizer optimizer.lr regularizer vision vision.transforms jit amp incubate fft device device.cuda "
           "autograd distribution version static utils linalg metric utils.cpp_extension tensor framework").split()  # fmt: skip

CASES = {
    f"paddle.{d}": [f"str(paddle.{d})", f"paddle.zeros([2], paddle.{d})", f"T([1], paddle.{d}).dtype == paddle.{d}",
                    f"{{paddle.{d}: 1}}[paddle.zeros([1], '{d}').dtype]", f"paddle.{d} == paddle.float32", f"R([3], 'int64').astype(paddle.{d})"]
    for d in DTYPES
}  # fmt: skip
# Names that are not there yet; no package uses them.
WITHOUT = {"nn.functional": "moe_permute moe_unpermute sparse_attention", "incubate": "cc graph_khop_sampler inference",
           "linalg": "fp8_fp8_half_gemm_fused", "device": "empty_cache memory_allocated memory_reserved"}  # fmt: skip
CASES |= {f"paddle.{m}": [f"public(paddle.{m}, {WITHOUT.get(m, '')!r})", f"paddle.{m}.__name__", f"isinstance(paddle.{m}, type(np))"] for m in MODULES if m not in ("tensor", "framework")}
CASES |= {f"paddle.{m}": [f"paddle.{m}.__name__"] for m in ("tensor", "framework")}
CASES["paddle.tensor"] += ["paddle.tensor.math.sum(R([2, 3]))", "lacking(paddle.tensor, 'math manipulation creation linalg logic search random stat attribute einsum abs matmul reshape')"]
CASES["paddle.framework"] += ["lacking(paddle.framework, 'seed get_default_dtype set_default_dtype in_dynamic_mode save load ParamAttr CPUPlace CUDAPlace core dtype random io')", "paddle.framework.get_default_dtype()", "paddle.framework.in_dynamic_mode()"]
CASES["paddle.utils"] += ["paddle.utils.try_import('math').__name__", "paddle.utils.try_import('no_such_module')", "paddle.utils.flatten({'a': [1, (2, 3)]})", "paddle.utils.map_structure(lambda v: v + 1, [1, (2, 3)])", "paddle.utils.unique_name.generate('fc')", "paddle.utils.require_version('2.0')", "paddle.utils.require_version('99.0')", "with paddle.utils.unique_name.guard('p_'):\n    n = paddle.utils.unique_name.generate('fc')\nn",
    "@paddle.utils.deprecated(since='2.0')\ndef f():\n    return 3\nf()", "paddle.utils.pack_sequence_as([1, [2]], [5, 6])"]  # fmt: skip
CASES["paddle.utils.cpp_extension"] += ["callable(paddle.utils.cpp_extension.load)", "signature(paddle.utils.cpp_extension.load)", ]
CASES["paddle.metric"] += ["m = paddle.metric.Precision()\nm.update(np.array([0.1, 0.9, 0.8]), np.array([0, 1, 0]))\nm.accumulate()", "m = paddle.metric.Recall()\nm.update(np.array([0.1, 0.9, 0.2]), np.array([0, 1, 1]))\nm.accumulate()",
    "m = paddle.metric.Auc()\nm.update(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), np.array([[0], [1], [1]]))\nm.accumulate()", "paddle.metric.accuracy(T([[0.1, 0.9], [0.8, 0.2]]), T([[1], [1]]))", "m = paddle.metric.Accuracy()\nm.reset()\nm.accumulate()"]  # fmt: skip
CASES["paddle.version"] += ["[type(getattr(paddle.version, n)).__name__ for n in ('full_version', 'major', 'minor', 'patch', 'rc', 'commit', 'with_mkl')]", "[paddle.version.cuda(), paddle.version.cudnn(), paddle.version.xpu()]", "paddle.version.full_version"]
CASES["paddle.fft"] += ["paddle.fft.fft(R([8]))", "paddle.fft.rfft(R([2, 8]), axis=0)", "paddle.fft.ifft2(R([4, 4], 'complex64'))", "paddle.fft.fftshift(R([5]))", "paddle.fft.fftfreq(5, 0.1)", "paddle.fft.irfft(R([5], 'complex64'), n=8, norm='ortho')", "paddle.fft.fft(R([8]), norm='x')", "paddle.fft.fft(R([8]), n=0)"]
CASES["paddle.linalg"] += ["paddle.linalg.inv(R([3, 3]))", "paddle.linalg.det(R([3, 3]))", "paddle.linalg.matrix_rank(R([3, 3]))", "paddle.linalg.solve(R([3, 3]), R([3, 2]))", "paddle.linalg.multi_dot([R([2, 3]), R([3, 4]), R([4, 2])])", "paddle.linalg.inv(R([2, 3]))", "paddle.linalg.svdvals(R([3, 2]))"]
CASES["paddle.vision"] += ["paddle.vision.get_image_backend()", "paddle.vision.set_image_backend('x')", "lacking(paddle.vision, 'models datasets transforms ops image_load set_image_backend')", "described(paddle.vision.models.LeNet())"]
CASES["paddle.vision.transforms"] += ["paddle.vision.transforms.Normalize(0.5, 0.5)(R([3, 4, 4]))", "paddle.vision.transforms.ToTensor()(np.arange(12, dtype='uint8').reshape(2, 2, 3))", "paddle.vision.transforms.Compose([paddle.vision.transforms.CenterCrop(2), paddle.vision.transforms.Transpose()])(np.arange(48, dtype='uint8').reshape(4, 4, 3))",
    "paddle.vision.transforms.hflip(np.arange(12, dtype='uint8').reshape(2, 2, 3))", "paddle.vision.transforms.pad(np.ones((2, 2, 3), 'uint8'), 1)", "paddle.vision.transforms.RandomCrop(2)(np.ones((4, 4, 3), 'uint8')).shape", "paddle.vision.transforms.Grayscale()(np.arange(48, dtype='uint8').reshape(4, 4, 3)).shape"]  # fmt: skip
CASES["paddle.distribution"] += ["paddle.distribution.Normal(0.0, 1.0).log_prob(T([0.5]))", "paddle.distribution.Uniform(0.0, 2.0).entropy()", "paddle.distribution.kl_divergence(paddle.distribution.Normal(0.0, 1.0), paddle.distribution.Normal(1.0, 2.0))", "paddle.distribution.Categorical(T([1.0, 3.0])).probs(T([0, 1]))", "paddle.distribution.Beta(2.0, 3.0).mean", "paddle.distribution.Bernoulli(0.3).variance", "paddle.distribution.Normal('a', 1.0)"]
CASES["paddle.incubate"] += ["paddle.incubate.segment_sum(R([4, 2]), T([0, 0, 1, 1]))", "paddle.incubate.softmax_mask_fuse(R([1, 1, 2, 2]), R([1, 1, 2, 2], low=0))", "paddle.incubate.softmax_mask_fuse_upper_triangle(R([1, 1, 4, 4]))", "lacking(paddle.incubate, 'nn optimizer autograd')"]
CASES |= {
    "paddle.dtype": ["isinstance(paddle.float32, paddle.dtype)", "paddle.dtype('float32')", "paddle.dtype('x')", "str(paddle.dtype('int64'))", "isinstance(R([2]).dtype, paddle.dtype)"],
    "paddle.get_default_dtype": ["paddle.get_default_dtype()", "paddle.set_default_dtype('float64')\n[paddle.get_default_dtype(), str(paddle.ones([1]).dtype), str(nn.Linear(1, 1).weight.dtype), str(T([1.5]).dtype)]", "paddle.set_default_dtype(paddle.float16)\npaddle.get_default_dtype()", "paddle.set_default_dtype('int32')", "paddle.get_default_dtype(1)"],
    "paddle.__version__": ["paddle.__version__", "type(paddle.__version__).__name__", "[int(v) for v in paddle.__version__.split('.')[:2]]"],
    "paddle.CPUPlace": ["str(paddle.CPUPlace())", "repr(paddle.CPUPlace())", "paddle.CPUPlace() == paddle.CPUPlace()", "type(paddle.CPUPlace()).__name__", "T([1.0], ).to(paddle.CPUPlace())", "paddle.to_tensor([1.0], place=paddle.CPUPlace())", "paddle.CPUPlace(1)", "hash(paddle.CPUPlace()) == hash(paddle.CPUPlace())"],
    "paddle.device": CASES["paddle.device"] + ["paddle.device.get_all_device_type()", "paddle.device.get_available_device()", "paddle.device.get_all_custom_device_type()", "paddle.device.is_compiled_with_rocm()", "paddle.device.get_cudnn_version()", "paddle.device.synchronize()", "paddle.device.is_compiled_with_custom_device('npu')", "paddle.device.is_compiled_with_distribute()", ],
    "paddle.device.cuda": CASES["paddle.device.cuda"] + ["paddle.device.cuda.device_count()", "paddle.device.cuda.empty_cache()", "paddle.device.cuda.max_memory_allocated()", "paddle.device.cuda.get_device_properties()", "paddle.device.cuda.memory_allocated(0)", "paddle.device.cuda.get_device_name()", "paddle.device.cuda.get_device_capability()"],
    "paddle.device.get_device": ["paddle.device.get_device()", "type(paddle.device.get_device()).__name__", "paddle.device.set_device('cpu')\npaddle.device.get_device()", "paddle.device.get_device(R([2]))"],
    "paddle.get_device": ["paddle.get_device()", "paddle.set_device('cpu')\npaddle.get_device()", "paddle.get_device() == paddle.device.get_device()", "paddle.get_device(R([2]))"],
    "paddle.set_device": ["str(paddle.set_device('cpu'))", "paddle.set_device('gpu')", "paddle.set_device('gpu:0')", "paddle.set_device('x')", "paddle.set_device('xpu')", "str(paddle.set_device(paddle.CPUPlace()))", "paddle.set_device(3.5)", "paddle.set_device('cpu:0')"],
    "paddle.device.is_compiled_with_cuda": ["paddle.device.is_compiled_with_cuda()", "type(paddle.device.is_compiled_with_cuda()).__name__", "signature(paddle.device.is_compiled_with_cuda)", "paddle.device.is_compiled_with_cuda(1)"],
    "paddle.is_compiled_with_cuda": ["paddle.is_compiled_with_cuda()", "paddle.is_compiled_with_cuda is paddle.device.is_compiled_with_cuda", "signature(paddle.is_compiled_with_cuda)"],
    "paddle.is_compiled_with_xpu": ["paddle.is_compiled_with_xpu()", "paddle.is_compiled_with_xpu is paddle.device.is_compiled_with_xpu", "signature(paddle.is_compiled_with_xpu)"],
    "paddle.is_tensor": ["paddle.is_tensor(R([2]))", "paddle.is_tensor(3)", "paddle.is_tensor(x=np.ones(2))", "paddle.is_tensor(obj=R([1]))", "paddle.is_tensor(nn.Linear(1, 1).weight)", "paddle.is_tensor([R([2])])"],
    "paddle.is_floating_point": ["paddle.is_floating_point(R([2]))", "paddle.is_floating_point(R([2], 'int32'))", "paddle.is_floating_point(x=R([2], 'bfloat16'))", "paddle.is_floating_point(3)", "paddle.is_floating_point(input=R([2], 'complex64'))", "R([2], 'float16').is_floating_point()"],
    "paddle.shape": ["paddle.shape(R([2, 3]))", "paddle.shape(input=R([]))", "paddle.shape(R([0, 2]))", "paddle.shape(x=R([2]))", "paddle.shape(3)"],
    "paddle.numel": ["paddle.numel(R([2, 3]))", "paddle.numel(R([]))", "paddle.numel(x=R([0, 3]))", "paddle.numel(input=R([2]))", "paddle.numel(3)"],
    "paddle.linalg.norm": ["paddle.linalg.norm(R([2, 3]))", "paddle.linalg.norm(R([2, 3]), p=1, axis=0)", "paddle.linalg.norm(R([2, 3]), 'nuc')", "paddle.linalg.norm(R([2, 3]), p=-float('inf'), axis=[0, 1])", "paddle.linalg.norm(R([2, 3, 2]), axis=(0, 2), keepdim=True)", "paddle.linalg.norm(R([0, 3]))", "grads(lambda x: paddle.linalg.norm(x, axis=1), R([2, 3]))", "paddle.linalg.norm(R([2, 3]), p=3, axis=5)"],
    "paddle.distribution.Distribution.sample": ["statistics(paddle.distribution.Normal(0.0, 1.0).sample([100]))", "paddle.distribution.Normal(T([0.0, 1.0]), T([1.0, 2.0])).sample([3]).shape", "statistics(paddle.distribution.Uniform(T([0.0]), T([2.0])).sample([100]), 0, 2)", "paddle.distribution.Distribution().sample([2])", "paddle.distribution.Categorical(T([1.0, 3.0])).sample([5]).shape", "paddle.distribution.Beta(2.0, 3.0).sample().shape", "paddle.distribution.Normal(0.0, 1.0).sample('a')",
        "paddle.distribution.Multinomial(4, T([0.5, 0.5])).sample([2]).shape", ],
}  # fmt: skip

CASES["paddle.metric"] += ["m = paddle.metric.Accuracy()\nm.update(m.compute(T([[0.1, 0.9], [0.8, 0.2]]), T([[1], [1]])))\n[m.accumulate(), m.name()]", "m = paddle.metric.Accuracy(topk=(1, 2))\nm.update(m.compute(T([[0.1, 0.9], [0.8, 0.2]]), T([[1], [1]])))\nm.accumulate()"]

DIFFERS = {
    "a dtype equals its name": {f"paddle.{d}": [f"paddle.{d} == '{d}'", f"paddle.{d} != '{d}'"] for d in DTYPES},
    "a dtype's text is what a program would write": {f"paddle.{d}": [f"repr(paddle.{d})"] for d in DTYPES},
    "official resizes arrays by OpenCV, whose weights are fractions of 2048; ours are floats": {
        "paddle.vision.transforms": ["paddle.vision.transforms.Resize((2, 3))(np.arange(48, dtype='uint8').reshape(4, 4, 3))"],
    },
    "official's CPU wheel is built without its compiler": {
        "paddle.device": ["paddle.device.is_compiled_with_cinn()"],
    },
    "a device that is not there is a ValueError, as it is for the functions beside this one": {
        "paddle.device.cuda": ["paddle.device.cuda.synchronize()"],
    },
    "operators in C++ are built by CMake: the error says how": {
        "paddle.utils.cpp_extension": ["type(paddle.utils.cpp_extension.CppExtension(sources=['a.cc'])).__name__"],
    },
    "a class of another name": {
        "paddle.dtype": ["type(paddle.float32).__name__"],
    },
    "a default that is a list could be changed by a caller: ours is an empty tuple": {
        "paddle.distribution.Distribution.sample": ["signature(paddle.distribution.Distribution.sample)"],
    },
}  # fmt: skip
