"""paddle.vision.transforms, paddle.audio, paddle.signal, paddle.fft, paddle.metric, paddle.geometric, paddle.text, paddle.utils."""

IMAGE = "(np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8')"
VT = "paddle.vision.transforms."
AF = "paddle.audio.functional."

CASES = {
    VT + "Compose": [f"{VT}Compose([{VT}CenterCrop(4), {VT}ToTensor()])({IMAGE})"],
    VT + "ToTensor": [f"{VT}ToTensor()({IMAGE})", f"{VT}to_tensor({IMAGE}, 'HWC')", f"{VT}to_tensor(np.ones((2, 3, 1), 'float32'))"],
    VT + "Normalize": [f"{VT}Normalize([1.0, 2.0, 3.0], [2.0, 2.0, 4.0], 'HWC')({IMAGE})", f"{VT}Normalize(127.5, 127.5)(R([3, 2, 2]))", f"{VT}normalize(R([3, 2, 2]), [0.5] * 3, [0.5] * 3)", f"{VT}normalize({IMAGE}, [1.0] * 3, [2.0] * 3, 'HWC', True)"],
    VT + "Resize": [f"{VT}Resize((3, 4))({IMAGE})", f"{VT}Resize(3, 'nearest')({IMAGE})", f"{VT}resize({IMAGE}, (7, 8), 'bicubic')", f"{VT}resize({IMAGE}, 10)", f"{VT}resize({IMAGE}, (3, 3), 'area')"],
    VT + "CenterCrop": [f"{VT}CenterCrop((3, 4))({IMAGE})", f"{VT}center_crop({IMAGE}, 2)", f"{VT}center_crop(R([3, 5, 6]), 2)"],
    VT + "Pad": [f"{VT}Pad(1)({IMAGE})", f"{VT}pad({IMAGE}, (1, 2), 7)", f"{VT}pad({IMAGE}, (1, 2, 0, 1), padding_mode='reflect')", f"{VT}pad({IMAGE}, 1, padding_mode='edge')", f"{VT}pad({IMAGE}, 1, padding_mode='symmetric')", f"{VT}pad(R([3, 4, 4]), 1)", f"{VT}pad(R([3, 4, 4]), [1, 0], padding_mode='reflect')"],
    VT + "hflip": [f"{VT}hflip({IMAGE})", f"{VT}vflip({IMAGE})", f"{VT}hflip(R([3, 2, 3]))", f"{VT}vflip(R([3, 2, 3]))", f"{VT}RandomHorizontalFlip(1.0)({IMAGE})", f"{VT}RandomVerticalFlip(1.0)({IMAGE})", f"{VT}RandomHorizontalFlip(0.0)({IMAGE})"],
    VT + "crop": [f"{VT}crop({IMAGE}, 1, 2, 3, 3)", f"{VT}crop(R([3, 5, 6]), 1, 2, 3, 3)", f"{VT}RandomCrop((5, 6))({IMAGE})", f"{VT}RandomCrop(7, padding=1)({IMAGE}).shape"],
    VT + "Grayscale": [f"{VT}Grayscale()({IMAGE})", f"{VT}to_grayscale({IMAGE}, 3)", f"{VT}to_grayscale(R([3, 2, 3], low=0))", f"{VT}to_grayscale({IMAGE}, 2)"],
    VT + "adjust_brightness": [f"{VT}adjust_{k}({IMAGE}, {v})" for k in ("brightness", "contrast") for v in (0.0, 0.4, 1.5)] + [f"{VT}adjust_{k}(R([3, 4, 4], low=0, high=1), 0.4)" for k in ("brightness", "contrast", "saturation", "hue")] + [f"{VT}adjust_hue({IMAGE}, 0.9)", f"{VT}adjust_hue({IMAGE}, 0.2)", f"{VT}adjust_saturation({IMAGE}, 0.4)"],
    VT + "ColorJitter": [f"{VT}ColorJitter(0, 0, 0, 0)({IMAGE})", f"{VT}ColorJitter(0.4, 0.4, 0.4, 0.4)({IMAGE}).shape", f"{VT}ColorJitter(-1)", f"{VT}BrightnessTransform(0.0)({IMAGE})", f"{VT}ContrastTransform(0.0)({IMAGE})", f"{VT}SaturationTransform(0.0)({IMAGE})", f"{VT}HueTransform(0.0)({IMAGE})", f"{VT}HueTransform(0.9)"],
    VT + "rotate": [f"{VT}rotate({IMAGE}, 90)", f"{VT}rotate({IMAGE}, 30)", f"{VT}rotate({IMAGE}, 45, 'bilinear')", f"{VT}rotate({IMAGE}, 90, expand=True)", f"{VT}rotate({IMAGE}, 30, center=(0, 0), fill=9)", f"{VT}rotate(R([3, 4, 4]), 90)", f"{VT}rotate(R([3, 4, 4]), 30, 'bilinear')", f"{VT}RandomRotation(0)({IMAGE})", f"{VT}RandomRotation(-1)"],
    VT + "affine": [f"{VT}affine({IMAGE}, 30, [1, 0], 1.2, [5, 3])", f"{VT}affine({IMAGE}, 0, [0, 0], 2.0, [0, 0], 'bilinear')", f"{VT}affine(R([3, 4, 4]), 30, [1, 0], 1.2, [5, 3])", f"{VT}RandomAffine(0)({IMAGE})", f"{VT}RandomAffine(10, (0.1, 0.2), (0.8, 1.2), 5)({IMAGE}).shape"],
    VT + "perspective": [f"{VT}perspective({IMAGE}, [[0, 0], [5, 0], [5, 4], [0, 4]], [[1, 0], [4, 1], [5, 4], [0, 3]])", f"{VT}perspective(R([3, 5, 6]), [[0, 0], [5, 0], [5, 4], [0, 4]], [[1, 0], [4, 1], [5, 4], [0, 3]], 'bilinear')", f"{VT}RandomPerspective(0.0)({IMAGE})"],
    VT + "erase": [f"{VT}erase({IMAGE}, 1, 2, 2, 3, 7)", f"{VT}erase(R([3, 4, 4]), 1, 1, 2, 2, 0.0)", f"{VT}RandomErasing(0.0)(R([3, 4, 4]))", f"{VT}RandomErasing(1.0)(R([3, 4, 4])).shape"],
    VT + "Transpose": [f"{VT}Transpose()({IMAGE})", f"{VT}Transpose((1, 0, 2))({IMAGE})", f"{VT}RandomResizedCrop(3)({IMAGE}).shape", f"{VT}RandomResizedCrop((3, 4), (1.0, 1.0), (1.0, 1.0))({IMAGE}).shape"],
    "paddle.vision": ["public(paddle.vision)", "public(paddle.vision.transforms)", "public(paddle.vision.ops)", "public(paddle.vision.models)", "public(paddle.vision.datasets)", "paddle.vision.get_image_backend()", "paddle.vision.set_image_backend('x')", *(f"signature(paddle.vision.models.{m})" for m in ("ResNet", "VGG", "LeNet", "MobileNetV2", "resnet50", "DenseNet", "GoogLeNet"))],
    AF + "get_window": [f"{AF}get_window('{w}', 7)" for w in "hamming hann blackman bohman cosine triang nuttall".split()] + [f"{AF}get_window(('{w}', {a}), 7)" for w, a in (("gaussian", "1.5"), ("general_gaussian", "1.5, 2.0"), ("exponential", "None, 2.0"), ("tukey", "0.4"), ("kaiser", "8.0"), ("taylor", "4"))] + [f"{AF}get_window('hann', 7, False)", f"{AF}get_window('x', 7)", f"{AF}get_window('hann', 0)", f"{AF}get_window('hann', 6, dtype='float32')"],
    AF + "hz_to_mel": [f"{AF}hz_to_mel({x}{h})" for x in ("440.0", "T([440.0, 3000.0])") for h in ("", ", True")] + [f"{AF}mel_to_hz({x}{h})" for x in ("10.0", "T([10.0, 40.0])") for h in ("", ", True")],
    AF + "mel_frequencies": [f"{AF}mel_frequencies(5)", f"{AF}mel_frequencies(5, 100.0, 4000.0, True, 'float64')", f"{AF}fft_frequencies(8000, 16)"],
    AF + "compute_fbank_matrix": [f"{AF}compute_fbank_matrix(8000, 32, 6)", f"{AF}compute_fbank_matrix(8000, 32, 6, 50.0, 3000.0, True, None)", f"{AF}compute_fbank_matrix(8000, 32, 6, norm=2.0)"],
    AF + "create_dct": [f"{AF}create_dct(4, 6)", f"{AF}create_dct(4, 6, None)"],
    AF + "power_to_db": [f"{AF}power_to_db(R([5], low=0.01))", f"{AF}power_to_db(R([5], low=0.01), 2.0, 1e-3, None)", f"{AF}power_to_db(R([5], low=0.01), top_db=-1.0)"],
    "paddle.audio.features.Spectrogram": ["paddle.audio.features.Spectrogram(n_fft=16, hop_length=8)(R([1, 64]))", "paddle.audio.features.Spectrogram(16, 4, 12, 'hamming', 1.0, False)(R([1, 64]))"],
    "paddle.audio.features.MelSpectrogram": ["paddle.audio.features.MelSpectrogram(sr=8000, n_fft=32, hop_length=16, n_mels=6)(R([1, 96]))"],
    "paddle.audio.features.LogMelSpectrogram": ["paddle.audio.features.LogMelSpectrogram(sr=8000, n_fft=32, hop_length=16, n_mels=6)(R([1, 96]))", "paddle.audio.features.LogMelSpectrogram(sr=8000, n_fft=32, n_mels=6, top_db=20.0)(R([96]).unsqueeze(0))"],
    "paddle.audio.features.MFCC": ["paddle.audio.features.MFCC(sr=8000, n_mfcc=4, n_fft=32, hop_length=16, n_mels=6)(R([1, 96]))"],
    "paddle.audio": ["public(paddle.audio)", "public(paddle.audio.functional)", "public(paddle.audio.features)", "paddle.audio.backends.list_available_backends()", "paddle.audio.backends.get_current_backend()", "folder()\npaddle.audio.save('a.wav', R([1, 50], low=-1, high=1), 8000)\ni = paddle.audio.info('a.wav')\n[i.sample_rate, i.num_samples, i.num_channels, i.bits_per_sample, i.encoding]", "folder()\npaddle.audio.save('a.wav', R([2, 50], low=-1, high=1), 8000)\nw, r = paddle.audio.load('a.wav')\n[w, r]", "folder()\npaddle.audio.save('a.wav', R([1, 50], low=-1, high=1), 8000)\npaddle.audio.load('a.wav', 10, 20, False)[0]"],
    "paddle.signal.stft": ["paddle.signal.stft(R([32]), 8)", "paddle.signal.stft(R([2, 32]), 8, 4, 6, R([6], low=0.1))", "paddle.signal.stft(R([2, 32]), 8, center=False, onesided=False, normalized=True)", "paddle.signal.stft(R([32], 'complex64'), 8, onesided=False)", "paddle.signal.stft(R([32]), 8, pad_mode='constant')", "paddle.signal.stft(R([32]), 64)", "grads(lambda x: paddle.signal.stft(x, 8).abs(), R([32]))"],
    "paddle.signal.istft": ["paddle.signal.istft(paddle.signal.stft(R([32]), 8), 8)", "paddle.signal.istft(paddle.signal.stft(R([2, 32]), 8, 2, window=R([8], low=0.5)), 8, 2, window=R([8], low=0.5), length=20)", "paddle.signal.istft(R([5, 4], 'complex64'), 8, return_complex=True, onesided=True)"],
    "paddle.fft": [f"paddle.fft.{f}(R([4, 6], '{d}'){a})" for f in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for d in ("float32", "complex64") for a in ("", ", n=4", ", axis=0", ", norm='ortho'", ", n=8, norm='forward'")] + [f"paddle.fft.{f}(R([2, 4, 6], 'complex64'){a})" for f in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn") for a in ("", ", [2, 3], [0, 1]", ", norm='forward'")] + [f"paddle.fft.{f}(R([2, 4, 6]){a})" for f in ("rfft2", "rfftn", "hfft2", "ihfft2", "hfftn", "ihfftn") for a in ("", ", norm='ortho'")] + ["paddle.fft.fftfreq(5, 0.5)", "paddle.fft.rfftfreq(6)", "paddle.fft.fftshift(R([5]))", "paddle.fft.ifftshift(R([2, 5]), 1)", "paddle.fft.fft(R([4]), n=-1)", "paddle.fft.fft(R([4]), norm='x')", "paddle.fft.fft(R([4], 'int32'))", "grads(lambda x: paddle.fft.rfft(x).abs(), R([6]))", "grads(lambda x: paddle.fft.irfft(paddle.fft.rfft(x), 5), R([6]))", "paddle.fft.rfft(R([4], 'float64'))", "paddle.fft.fft(R([0]))", "paddle.fft.fft(R([4], 'float16'))", "paddle.fft.fft2(R([4]))"],
    "paddle.metric.Accuracy": ["m = paddle.metric.Accuracy()\nc = m.compute(T([[0.1, 0.9], [0.8, 0.2]]), T([[1], [1]]))\n[c, m.update(c), m.accumulate(), m.name()]", "m = paddle.metric.Accuracy(topk=(1, 2))\nm.update(m.compute(R([4, 3]), T([0, 1, 2, 0])))\n[m.accumulate(), m.name()]", "m = paddle.metric.Accuracy(name='a')\nm.update(m.compute(R([4, 3]), T(np.eye(4, 3, dtype='float32'))))\nr = m.accumulate()\nm.reset()\n[r, m.accumulate(), m.name()]"],
    "paddle.metric.Precision": ["m = paddle.metric.Precision()\nm.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0, 1, 1, 1]))\n[m.accumulate(), m.name()]", "m = paddle.metric.Recall()\nm.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([1, 0, 1, 1]))\n[m.accumulate(), m.name()]", "m = paddle.metric.Precision()\nm.accumulate()", "m = paddle.metric.Recall()\nm.update(T([0.1, 0.9]), T([1, 1]))\nm.accumulate()"],
    "paddle.metric.Auc": ["m = paddle.metric.Auc()\nm.update(np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]), np.array([[1], [0], [0]]))\n[m.accumulate(), m.name()]", "m = paddle.metric.Auc(num_thresholds=10)\nm.update(T([[0.1, 0.9], [0.8, 0.2]]), T([[1], [0]]))\nm.accumulate()", "paddle.metric.Auc().accumulate()"],
    "paddle.metric.accuracy": ["paddle.metric.accuracy(R([4, 3]), T([[0], [1], [2], [0]]))", "paddle.metric.accuracy(R([4, 3]), T([[0], [1], [2], [0]]), k=2)", "signature(paddle.metric.accuracy)", "signature(paddle.metric.Auc)", "issubclass(paddle.metric.Auc, paddle.metric.Metric)", "paddle.metric.Metric()"],
    "paddle.geometric": [f"paddle.geometric.segment_{f}(R([4, 2]), T([0, 0, 1, 3]))" for f in ("sum", "mean", "min", "max")] + [f"grads(lambda x: paddle.geometric.segment_{f}(x, T([0, 0, 1, 1])), R([4, 2]))" for f in ("sum", "mean", "min", "max")] + [f"paddle.geometric.send_u_recv(R([3, 2]), T([0, 1, 2, 0]), T([1, 2, 1, 0]), '{r}')" for r in ("sum", "mean", "max", "min", "x")] + ["paddle.geometric.send_u_recv(R([3, 2]), T([0, 1]), T([1, 0]), out_size=2)", *(f"paddle.geometric.send_ue_recv(R([3, 2]), R([4, 2], low=1), T([0, 1, 2, 0]), T([1, 2, 1, 0]), '{m}', '{r}')" for m in ("add", "sub", "mul", "div") for r in ("sum", "mean", "max", "min")), *(f"paddle.geometric.send_uv(R([3, 2]), R([3, 2], low=1), T([0, 1, 2, 0]), T([1, 2, 1, 0]), '{m}')" for m in ("add", "sub", "mul", "div")), "grads(lambda x, e: paddle.geometric.send_ue_recv(x, e, T([0, 1, 2]), T([1, 2, 1]), 'mul', 'sum'), R([3, 2]), R([3, 2]))", "paddle.geometric.reindex_graph(T([0, 1, 2]), T([8, 9, 0, 4, 7, 6, 7]), T([2, 3, 2], 'int32'))", "paddle.geometric.reindex_heter_graph(T([0, 1, 2]), [T([8, 9, 0, 4, 7, 6, 7]), T([0, 2, 3, 5, 1])], [T([2, 3, 2], 'int32'), T([1, 3, 1], 'int32')])", "paddle.geometric.sample_neighbors(T([3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7]), T([0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13]), T([0, 8, 1, 2]), 5)", "public(paddle.geometric)"],
    "paddle.text.viterbi_decode": ["paddle.text.viterbi_decode(R([2, 4, 3]), R([3, 3]), T([4, 2]), False)", "paddle.text.viterbi_decode(R([2, 4, 3]), R([3, 3]), T([4, 3]))", "paddle.text.ViterbiDecoder(R([3, 3]), False)(R([2, 4, 3]), T([4, 4]))", "public(paddle.text)"],
    "paddle.utils": ["public(paddle.utils)", "paddle.utils.try_import('math').__name__", "paddle.utils.try_import('no_such_module')", "paddle.utils.flatten([1, {'b': 2, 'a': 3}, (4, [5])])", "paddle.utils.map_structure(lambda a, b: a + b, [1, {'x': 2}], [3, {'x': 4}])", "paddle.utils.pack_sequence_as([1, [2, 3]], [4, 5, 6])", "paddle.utils.assert_same_structure([1, 2], [1])", "paddle.utils.require_version('9.9')", "paddle.utils.require_version('2.0')", "paddle.utils.require_version('a')", "n = paddle.utils.unique_name\n[n.generate('a'), n.generate('a'), n.generate('b')]", "n = paddle.utils.unique_name\nn.generate('a')\nwith n.guard():\n    r = n.generate('a')\nr", "n = paddle.utils.unique_name\nwith n.guard('p_'):\n    r = n.generate('a')\nr", "paddle.utils.unique_name.switch() is not None", "@paddle.utils.deprecated(since='2.0', update_to='x')\ndef f():\n    return 1\nf()", "paddle.utils.download.is_url('http://a/b')", "signature(paddle.utils.download.get_weights_path_from_url)"],
    "paddle.version": ["[paddle.version.full_version.split('.')[0] in '023', paddle.version.cuda(), paddle.version.cudnn(), paddle.version.nccl(), paddle.version.xpu(), paddle.version.with_pip_cuda_libraries]", "lacking(paddle.version, 'show major minor patch rc commit istaged tensorrt cinn with_pip_cuda_libraries')"],
    "paddle.summary": ["paddle.summary(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (1, 3))", "paddle.summary(nn.Conv2D(3, 4, 3), (1, 3, 8, 8), dtypes='float32')", "paddle.summary(nn.Linear(3, 4), input=R([2, 3]))"],
    "paddle.flops": ["paddle.flops(nn.Sequential(nn.Conv2D(3, 4, 3), nn.ReLU()), [1, 3, 8, 8])", "paddle.flops(nn.Linear(3, 4), [2, 3])", "paddle.flops(nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.MaxPool2D(2)), [1, 3, 8, 8], print_detail=True)"],
    "paddle.reader": ["list(paddle.reader.firstn(lambda: iter(range(5)), 2)())", "list(paddle.reader.chain(lambda: iter([1]), lambda: iter([2, 3]))())", "list(paddle.reader.compose(lambda: iter([1, 2]), lambda: iter([(3, 4), (5, 6)]))())", "list(paddle.reader.map_readers(lambda a, b: a + b, lambda: iter([1, 2]), lambda: iter([3, 4]))())", "list(paddle.reader.buffered(lambda: iter(range(3)), 2)())", "sorted(paddle.reader.shuffle(lambda: iter(range(5)), 3)())", "list(paddle.batch(lambda: iter(range(5)), 2)())", "list(paddle.batch(lambda: iter(range(5)), 2, drop_last=True)())", "list(paddle.reader.cache(lambda: iter(range(3)))())"],
}

DIFFERS = {
    "official resizes arrays by OpenCV, whose positions and weights are fractions of 32 and 2048; ours are floats": {"": [
        "paddle.vision.transforms.Resize((3, 4))((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'))",
        "paddle.vision.transforms.resize((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), 10)",
        "paddle.vision.transforms.resize((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), (3, 3), 'area')",
    ]},
    "official takes an array's channels for blue, green, red here, for red, green, blue in its other functions; ours are the latter throughout": {"": [
        "paddle.vision.transforms.adjust_hue((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), 0.2)",
    ]},
    "official turns arrays about the middle of the size, half a pixel from the middle of the picture, and pictures and tensors about that": {"": [
        "paddle.vision.transforms.rotate((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), 90)",
        "paddle.vision.transforms.rotate((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), 90, expand=True)",
        "paddle.vision.transforms.rotate((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), 30, center=(0, 0), fill=9)",
        "paddle.vision.transforms.rotate(R([3, 4, 4]), 30, 'bilinear')",
        "paddle.vision.transforms.affine((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), 30, [1, 0], 1.2, [5, 3])",
        "paddle.vision.transforms.affine((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), 0, [0, 0], 2.0, [0, 0], 'bilinear')",
        "paddle.vision.transforms.perspective(R([3, 5, 6]), [[0, 0], [5, 0], [5, 4], [0, 4]], [[1, 0], [4, 1], [5, 4], [0, 3]], 'bilinear')",
    ]},
    "OpenCV fills the first channel only": {"": [
        "paddle.vision.transforms.pad((np.arange(5 * 6 * 3) * 37 % 256).reshape(5, 6, 3).astype('uint8'), (1, 2), 7)",
    ]},
    "a hue beyond a turn is refused at once, in official where a picture comes": {"": [
        "paddle.vision.transforms.HueTransform(0.9)",
    ]},
    "sets of recordings to download are not offered": {"": [
        "public(paddle.audio)",
    ]},
    "no libraries of CUDA come with this package": {"": [
        "[paddle.version.full_version.split('.')[0] in '023', paddle.version.cuda(), paddle.version.cudnn(), paddle.version.nccl(), paddle.version.xpu(), paddle.version.with_pip_cuda_libraries]",
    ]},
    "the module that a class stands in": {"": [
        "paddle.vision.transforms.ColorJitter(-1)",
    ]},
    "official's module lacks a name that its package sets elsewhere": {"": [
        "lacking(paddle.version, 'show major minor patch rc commit istaged tensorrt cinn with_pip_cuda_libraries')",
    ]},
    "counts are Python's integers, which JSON takes": {"": [
        "paddle.summary(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (1, 3))",
        "paddle.summary(nn.Conv2D(3, 4, 3), (1, 3, 8, 8), dtypes='float32')",
        "paddle.summary(nn.Linear(3, 4), input=R([2, 3]))",
    ]},
    "official counts what is inside a layer only; a layer that is the network counts too": {"": [
        "paddle.flops(nn.Linear(3, 4), [2, 3])",
    ]},
}  # fmt: skip
