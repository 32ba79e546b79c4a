"""Products, norms and decompositions."""

CASES = [
    "paddle.matmul(R([2, 3]), R([3, 4]))", "paddle.matmul(R([2, 3], 'float64'), R([3, 4], 'float64'))",
    "paddle.matmul(R([2, 3], 'int32'), R([3, 4], 'int32'))", "paddle.matmul(R([2, 3], 'complex64'), R([3, 2], 'complex64'))",
    "paddle.matmul(R([3]), R([3]))", "paddle.matmul(R([3]), R([3, 2]))", "paddle.matmul(R([2, 3]), R([3]))",
    "paddle.matmul(R([5, 2, 3]), R([3, 4]))", "paddle.matmul(R([2, 1, 2, 3]), R([4, 3, 2]))",
    "paddle.matmul(R([3, 2]), R([4, 3]), True, True)", "paddle.matmul(R([3, 2]), R([3, 4]), transpose_x=True)",
    "paddle.matmul(x=R([2, 3]), y=R([4, 3]), transpose_y=True)", "paddle.matmul(R([0, 3]), R([3, 4]))",
    "paddle.matmul(R([2, 0]), R([0, 4]))", "paddle.matmul(R([2, 3]), R([4, 3]))", "paddle.matmul(R([]), R([3]))",
    "paddle.matmul(R([2, 3]), R([3, 4], 'float64'))", "R([2, 3]).matmul(R([3, 4]))", "paddle.matmul(input=R([2, 3]), other=R([3, 4]))",
    "grads(paddle.matmul, R([2, 3]), R([3, 4]))", "grads(paddle.matmul, R([4, 2, 3]), R([3, 4]))",
    "grads(paddle.matmul, R([3]), R([3]))", "paddle.matmul(R([2, 3], 'float16'), R([3, 2], 'float16'))",
    "paddle.mm(R([2, 3]), R([3, 4]))", "paddle.mm(input=R([2, 3]), mat2=R([3, 4]))", "paddle.mm(R([2, 3]), R([2, 3]))",
    "grads(paddle.mm, R([2, 3]), R([3, 4]))", "paddle.mm(R([3]), R([3]))",
    "paddle.bmm(R([2, 3, 4]), R([2, 4, 5]))", "paddle.bmm(R([2, 3, 4]), R([3, 4, 5]))", "paddle.bmm(R([3, 4]), R([4, 5]))",
    "paddle.bmm(x=R([2, 3, 4]), y=R([2, 4, 5]))", "paddle.bmm(input=R([2, 3, 4]), mat2=R([2, 4, 5]))", "grads(paddle.bmm, R([2, 3, 4]), R([2, 4, 1]))",
    "paddle.bmm(R([0, 3, 4]), R([0, 4, 5]))", "paddle.dot(R([3]), R([3]))", "paddle.dot(R([2, 3]), R([2, 3]))", "paddle.mv(R([2, 3]), R([3]))",
    "paddle.addmm(R([2, 4]), R([2, 3]), R([3, 4]), beta=0.5, alpha=2.0)", "paddle.t(R([2, 3]))", "R([2, 3]).t()", "R([3]).t()", "paddle.t(R([2, 3, 4]))", "R([]).t()",
    "R([2, 3]).T", "R([2, 3, 4]).T", "R([]).T", "R([2, 3]).mT", "grads(lambda x: x.t(), R([2, 3]))",
    "paddle.einsum('ij,jk->ik', R([2, 3]), R([3, 4]))", "paddle.einsum('ij->ji', R([2, 3]))", "paddle.einsum('ii->', R([3, 3]))", "paddle.einsum('ii->i', R([3, 3]))",
    "paddle.einsum('bij,bjk->bik', R([2, 3, 4]), R([2, 4, 5]))", "paddle.einsum('...ij,...jk->...ik', R([2, 3, 4]), R([2, 4, 5]))", "paddle.einsum('i,j->ij', R([2]), R([3]))",
    "paddle.einsum('i,i', R([3]), R([3]))", "paddle.einsum('ij,jk,kl->il', R([2, 3]), R([3, 4]), R([4, 2]))", "paddle.einsum('ij,kj->ik', R([2, 3]), R([4, 3]))",
    "paddle.einsum('ij,jk->ik', R([2, 3]), R([2, 4]))", "paddle.einsum('ij', R([2, 3]))", "paddle.einsum('ij->', R([2, 3]))", "grads(lambda x, y: paddle.einsum('ij,jk->ik', x, y), R([2, 3]), R([3, 4]))",
    "paddle.norm(R([2, 3]))", "paddle.norm(R([2, 3]), p=1)", "paddle.norm(R([2, 3]), p=2, axis=1)", "paddle.norm(R([2, 3]), p=float('inf'))", "paddle.norm(R([2, 3]), p=-float('inf'), axis=0)",
    "paddle.norm(R([2, 3]), p='fro')", "paddle.norm(R([2, 3]), p='fro', axis=[0, 1], keepdim=True)", "paddle.norm(R([2, 3]), p='nuc', axis=[0, 1])", "paddle.norm(R([2, 3]), p=0, axis=1)",
    "paddle.norm(R([2, 3]), p=3, axis=-1, keepdim=True)", "paddle.norm(R([2, 3, 4]), axis=[1, 2])", "paddle.norm(R([2, 3, 4]), p=1, axis=[1, 2])", "paddle.norm(R([]))", "paddle.norm(R([2, 3]), p='abc')",
    "paddle.norm(R([2, 3]), axis=3)", "paddle.norm(R([0, 3]), axis=1)", "paddle.norm(R([3], 'float64'))", "paddle.norm(R([3], 'int32'))", "R([2, 3]).norm(2, 1)", "paddle.linalg.norm(R([2, 3]), 2, [0, 1])",
    "paddle.norm(x=R([2, 3]), p=2, axis=1, keepdim=True)", "paddle.linalg.norm(R([2, 2]), p=2)", "grads(lambda x: paddle.norm(x, axis=1), R([2, 3]))", "grads(lambda x: paddle.norm(x, p=1), R([2, 3]))", "grads(lambda x: paddle.norm(x), R([2, 3]))",
    "paddle.dist(R([2, 3]), R([3], low=0))", "paddle.cross(R([2, 3]), R([2, 3], low=0))", "paddle.linalg.det(R([3, 3]))", "paddle.linalg.inv(R([2, 2]) + 3 * paddle.eye(2))", "paddle.linalg.solve(R([2, 2]) + 3 * paddle.eye(2), R([2, 1]))",
    "paddle.linalg.cholesky(T([[4.0, 1.0], [1.0, 3.0]]))", "paddle.linalg.qr(R([3, 2]), mode='r').abs()", "paddle.linalg.svd(R([3, 2]))[1]", "paddle.linalg.eigh(T([[4.0, 1.0], [1.0, 3.0]]))[0]", "paddle.linalg.eigvalsh(T([[4.0, 1.0], [1.0, 3.0]]))",
    "paddle.linalg.lu(T([[4.0, 1.0], [6.0, 3.0]]))", "paddle.linalg.lu(T([[4.0, 1.0], [6.0, 3.0]]), get_infos=True)", "paddle.linalg.lu_unpack(*paddle.linalg.lu(T([[4.0, 1.0, 2.0], [6.0, 3.0, 1.0]])))", "paddle.linalg.lu(T([[1.0, 4.0], [2.0, 1.0], [0.5, 3.0]]))",
    "grads(lambda x: paddle.linalg.lu(x)[0], T([[4.0, 1.0], [6.0, 3.0]]))", "grads(lambda x: paddle.linalg.lu(x)[0], R([3, 2], 'float64'))", "grads(lambda x: paddle.linalg.lu(x)[0], R([2, 3], 'float64'))",
    "np.sort(paddle.linalg.eigvals(R([3, 3])).numpy())", "np.sort(paddle.linalg.eig(R([3, 3], 'float64'))[0].numpy())", "paddle.linalg.matrix_power(R([2, 2]), 3)", "paddle.linalg.matrix_rank(R([3, 2]))", "paddle.linalg.pinv(R([3, 2]))",
    "paddle.linalg.multi_dot([R([2, 3]), R([3, 4]), R([4, 2])])", "paddle.linalg.cond(R([2, 2]))", "paddle.linalg.slogdet(R([2, 2]))", "paddle.linalg.cov(R([3, 4]))", "paddle.linalg.corrcoef(R([3, 4]))", "paddle.linalg.matrix_exp(R([2, 2]))",
    "paddle.linalg.householder_product(R([3, 2]), R([2]))", "paddle.linalg.triangular_solve(T([[2.0, 1.0], [0.0, 3.0]]), R([2, 1]))", "paddle.linalg.cholesky_solve(R([2, 1]), T([[2.0, 0.0], [1.0, 3.0]]), upper=False)", "paddle.linalg.lstsq(R([3, 2]), R([3, 1]))[0]",
    "paddle.histogram(R([10]), 4, -2, 2)", "paddle.bincount(T([0, 1, 1, 3]))", "paddle.bincount(T([0, 1, 1, 3]), weights=R([4]))", "paddle.bincount(T([0, 1]), minlength=5)", "paddle.bincount(T([-1, 1]))", "paddle.bincount(R([3]))",
    "paddle.bincount(T([], 'int64'))", "paddle.bincount(T([0, 2], 'int32'), T([1, 2]))",
]  # fmt: skip
for n in (1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 31, 64, 67, 97, 100, 128, 127, 210, 243):
    CASES += [f"paddle.fft.fft(R([{n}], 'complex128'))", f"paddle.fft.rfft(R([2, {n}], 'float64'))"]
    if n > 1:
        CASES.append(f"paddle.fft.irfft(R([{n}], 'complex128'))")
for f in ("fft", "ifft", "rfft", "ihfft", "fft2", "ifft2", "rfft2", "ihfft2", "fftn", "ifftn", "rfftn", "ihfftn"):
    for norm in ("backward", "ortho", "forward"):
        CASES.append(f"paddle.fft.{f}(R([4, 6], 'float64'), norm='{norm}')")
    CASES += [f"paddle.fft.{f}(R([4, 6]))", f"paddle.fft.{f}(R([4, 6], 'int64'))", f"paddle.fft.{f}(R([4, 6], 'complex64'))", f"paddle.fft.{f}(R([4, 6]), norm='x')"]  # fmt: skip
for f in ("irfft", "hfft", "irfft2", "hfft2", "irfftn", "hfftn"):
    for norm in ("backward", "ortho", "forward"):
        CASES.append(f"paddle.fft.{f}(R([4, 6], 'complex128'), norm='{norm}')")
    CASES += [f"paddle.fft.{f}(R([4, 6], 'complex64'))", f"paddle.fft.{f}(R([4, 6]))"]
CASES += [
    "paddle.fft.fft(R([4, 6]), n=3)", "paddle.fft.fft(R([4, 6]), n=9, axis=0)", "paddle.fft.fft(R([4, 6]), n=0)", "paddle.fft.fft(R([4, 6]), axis=2)", "paddle.fft.fft(R([4, 6]), axis=-2)",
    "paddle.fft.rfft(R([5]), n=8)", "paddle.fft.rfft(R([9]), n=4)", "paddle.fft.irfft(R([5], 'complex64'), n=7)", "paddle.fft.irfft(R([5], 'complex64'), n=20)", "paddle.fft.hfft(R([5], 'complex64'), n=9)",
    "paddle.fft.fftn(R([2, 3, 4]), s=[4, 3])", "paddle.fft.fftn(R([2, 3, 4]), axes=[0, 2])", "paddle.fft.fftn(R([2, 3, 4]), s=[3], axes=[1])", "paddle.fft.rfftn(R([2, 3, 4]), axes=[0, 1])", "paddle.fft.irfftn(R([2, 3, 4], 'complex64'), s=[3, 5], axes=[0, 1])",
    "paddle.fft.fftn(R([2, 3]), axes=[0, 0])", "paddle.fft.fftn(R([2, 3]), s=[1, 2, 3])", "paddle.fft.fft2(R([2, 3, 4]), axes=(0, 1))", "paddle.fft.fft2(R([4]))", "paddle.fft.fftfreq(5, 0.1)", "paddle.fft.fftfreq(4, dtype='float64')", "paddle.fft.rfftfreq(5, 0.1)", "paddle.fft.rfftfreq(6)",
    "paddle.fft.fftshift(R([5]))", "paddle.fft.fftshift(R([4, 5]), axes=1)", "paddle.fft.fftshift(R([4, 5]))", "paddle.fft.ifftshift(R([5]))", "paddle.fft.ifftshift(R([4, 5]), axes=[0])",
    "grads(lambda x: paddle.fft.rfft(x).abs(), R([2, 6]))", "grads(lambda x: paddle.fft.rfft(x).real(), R([5], 'float64'))", "grads(lambda x: paddle.fft.irfft(x), R([4], 'complex128'))", "grads(lambda x: paddle.fft.irfft(x, n=5), R([3], 'complex128'))",
    "grads(lambda x: paddle.fft.fft(x).real(), R([5], 'complex128'))", "grads(lambda x: paddle.fft.fft(x).imag(), R([5], 'float64'))", "grads(lambda x: paddle.fft.irfftn(x), R([3, 4], 'complex128'))", "grads(lambda x: paddle.fft.rfftn(x, norm='ortho').imag(), R([3, 4], 'float64'))",
    "paddle.signal.frame(R([8]), 4, 2)", "paddle.signal.frame(R([8]), 4, 2, axis=0)", "paddle.signal.frame(R([2, 8]), 3, 1)", "paddle.signal.frame(R([8, 2]), 3, 2, axis=0)", "paddle.signal.frame(R([3]), 4, 1)", "paddle.signal.frame(R([8]), 0, 1)", "paddle.signal.frame(R([8]), 2, 1, axis=1)",
    "paddle.signal.overlap_add(R([4, 3]), 2)", "paddle.signal.overlap_add(R([3, 4]), 2, axis=0)", "paddle.signal.overlap_add(R([2, 4, 3]), 4)", "paddle.signal.overlap_add(R([4, 3, 2]), 3, axis=0)", "grads(lambda x: paddle.signal.overlap_add(x, 2), R([4, 3]))", "grads(lambda x: paddle.signal.frame(x, 4, 2), R([8]))",
    "paddle.signal.stft(R([32]), n_fft=8)", "paddle.signal.stft(R([2, 32], 'float64'), 8, hop_length=3, win_length=6, window=paddle.ones([6], 'float64'))", "paddle.signal.stft(R([32]), 8, center=False, normalized=True)", "paddle.signal.stft(R([32]), 8, onesided=False)", "paddle.signal.stft(R([32]), 8, pad_mode='constant')",
    "paddle.signal.stft(R([3]), 8)", "paddle.signal.istft(paddle.signal.stft(R([32], 'float64'), 8), 8)", "paddle.signal.istft(paddle.signal.stft(R([2, 32], 'float64'), 8), 8, length=30)", "grads(lambda x: paddle.signal.stft(x, 8).abs(), R([32], 'float64'))",
]  # fmt: skip
