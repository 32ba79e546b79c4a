"""paddle.sparse: creation, conversion, elementwise functions, products, layers; results as dense tensors and their indices."""

COO = "paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [3, 3])"
CSR = "paddle.sparse.sparse_csr_tensor([0, 1, 2, 3], [1, 2, 0], [1.0, 2.0, 3.0], [3, 3])"
UNARY = "sin tan asin atan sinh tanh asinh atanh sqrt square log1p abs neg expm1 deg2rad rad2deg isnan".split()
BINARY = "add subtract multiply divide".split()
SCALED = "paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [0.1, -0.2, 0.3], [3, 3])"
SCALED_CSR = "paddle.sparse.sparse_csr_tensor([0, 1, 2, 3], [1, 2, 0], [0.1, 0.2, 0.3], [3, 3])"
POINTS = "paddle.sparse.sparse_coo_tensor([[0, 0, 0], [0, 1, 2], [0, 1, 1], [0, 2, 1]], R([3, 2]), [1, 3, 3, 3, 2], stop_gradient=False)"
PLANE = "paddle.sparse.sparse_coo_tensor([[0, 0, 0], [0, 1, 2], [0, 1, 1]], R([3, 2]), [1, 3, 3, 2], stop_gradient=False)"

CASES = {f"paddle.sparse.{f}": [f"paddle.sparse.{f}({x}).to_dense()" for x in (SCALED, SCALED_CSR)] + [f"x = {SCALED}\nx.stop_gradient = False\ny = paddle.sparse.{f}(x)\ny.backward(y)\nx.grad.to_dense()", f"paddle.sparse.{f}({SCALED}).indices()", f"paddle.sparse.{f}(R([3]))"] for f in UNARY}
CASES |= {f"paddle.sparse.{f}": [f"paddle.sparse.{f}({x}, {x}).to_dense()" for x in (COO, CSR)] + [f"paddle.sparse.{f}({COO}, paddle.sparse.sparse_coo_tensor([[0, 1], [1, 1]], [5.0, 7.0], [3, 3]))" + (".to_dense()" if f != "divide" else ".to_dense()[0, 1]"), f"paddle.sparse.{f}({COO}, {CSR})", f"paddle.sparse.{f}({COO}, paddle.sparse.sparse_coo_tensor([[0], [1]], [5.0], [3, 4]))"] for f in BINARY}
CASES |= {
    "paddle.sparse.sparse_coo_tensor": [f"{COO}.to_dense()", f"[{COO}.nnz(), {COO}.indices(), {COO}.values(), {COO}.shape, str({COO}.dtype)]", "paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1, 2]).shape", "paddle.sparse.sparse_coo_tensor(T([[0, 1]]), T([[1.0, 2.0], [3.0, 4.0]]), [3, 2]).to_dense()", "paddle.sparse.sparse_coo_tensor([[0, 5], [1, 0]], [1.0, 2.0], [3, 3])", "paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0], [3, 3])", "paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], dtype='float64').dtype", f"[{COO}.is_sparse(), {COO}.is_sparse_coo(), {COO}.is_sparse_csr(), {COO}.is_dense()]", f"str({COO})", f"{COO}.numpy()", f"{COO}.to_sparse_csr().crows()", f"{COO}.dense_dim(), {COO}.sparse_dim()"],
    "paddle.sparse.sparse_csr_tensor": [f"{CSR}.to_dense()", f"[{CSR}.nnz(), {CSR}.crows(), {CSR}.cols(), {CSR}.values(), {CSR}.shape]", f"{CSR}.to_sparse_coo(2).indices()", "paddle.sparse.sparse_csr_tensor([0, 1], [1, 2, 0], [1.0, 2.0, 3.0], [3, 3])", f"str({CSR})", "paddle.sparse.sparse_csr_tensor([0, 1, 1, 1, 2], [0, 1], [1.0, 2.0], [2, 1, 2])"],
    "paddle.sparse.cast": [f"paddle.sparse.cast({COO}, 'int32', 'float64').values().dtype", f"paddle.sparse.cast({CSR}, None, 'float64').values().dtype"],
    "paddle.sparse.pow": [f"paddle.sparse.pow({COO}, 2).to_dense()", f"paddle.sparse.pow({CSR}, 0.5).to_dense()"],
    "paddle.sparse.coalesce": ["x = paddle.sparse.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 3.0], [3, 3])\n[paddle.sparse.coalesce(x).values(), paddle.sparse.coalesce(x).indices(), x.is_coalesced()]"],
    "paddle.sparse.is_same_shape": [f"paddle.sparse.is_same_shape({COO}, R([3, 3]))", f"paddle.sparse.is_same_shape({COO}, R([2, 3]))"],
    "paddle.sparse.transpose": [f"paddle.sparse.transpose({COO}, [1, 0]).to_dense()", f"paddle.sparse.transpose({CSR}, [1, 0]).to_dense()"],
    "paddle.sparse.reshape": [f"paddle.sparse.reshape({COO}, [9]).to_dense()", f"paddle.sparse.reshape({COO}, [1, -1]).to_dense()", f"paddle.sparse.reshape({CSR}, [1, 9]).to_dense()"],
    "paddle.sparse.sum": [f"paddle.sparse.sum({COO}).to_dense()", f"paddle.sparse.sum({COO}, axis=0).to_dense()", f"paddle.sparse.sum({COO}, 1, keepdim=True).to_dense()", f"paddle.sparse.sum({CSR}, axis=-1).to_dense()", f"paddle.sparse.sum({COO}, dtype='float64').dtype"],
    "paddle.sparse.slice": [f"paddle.sparse.slice({COO}, [0, 1], [0, 1], [2, 3]).to_dense()", f"paddle.sparse.slice({CSR}, [0], [1], [3]).to_dense()"],
    "paddle.sparse.matmul": [f"paddle.sparse.matmul({COO}, R([3, 2]))", f"paddle.sparse.matmul({CSR}, R([3, 2]))", f"paddle.sparse.matmul({COO}, {COO}).to_dense()", f"paddle.sparse.matmul({CSR}, {CSR}).to_dense()", f"paddle.sparse.matmul({COO}, R([2, 2]))", f"x = {COO}\nx.stop_gradient = False\ny = R([3, 2], grad=True)\npaddle.sparse.matmul(x, y).sum().backward()\n[x.grad.to_dense(), y.grad]"],
    "paddle.sparse.mv": [f"paddle.sparse.mv({COO}, R([3]))", f"paddle.sparse.mv({CSR}, R([3]))"],
    "paddle.sparse.addmm": [f"paddle.sparse.addmm(R([3, 2]), {COO}, R([3, 2]), 0.5, 2.0)", f"paddle.sparse.addmm(R([3, 2]), {CSR}, R([3, 2]))"],
    "paddle.sparse.masked_matmul": [f"paddle.sparse.masked_matmul(R([3, 2]), R([2, 3]), {CSR}).to_dense()", f"paddle.sparse.masked_matmul(R([3, 2]), R([2, 3]), {COO}).to_dense()"],
    "paddle.sparse.mask_as": [f"paddle.sparse.mask_as(R([3, 3]), {COO}).to_dense()", f"paddle.sparse.mask_as(R([3, 3]), {CSR}).to_dense()"],
    "paddle.sparse.pca_lowrank": ["[v.shape for v in paddle.sparse.pca_lowrank(paddle.sparse.sparse_coo_tensor([[0, 1, 2, 3], [1, 0, 1, 2]], [1.0, 2.0, 3.0, 4.0], [4, 3]), q=2)]"],
    "paddle.sparse.nn.ReLU": [f"paddle.sparse.nn.ReLU()({SCALED}).to_dense()", f"paddle.sparse.nn.ReLU()({SCALED_CSR}).to_dense()", "str(paddle.sparse.nn.ReLU())", f"paddle.sparse.nn.functional.relu({SCALED}).values()"],
    "paddle.sparse.nn.ReLU6": [f"paddle.sparse.nn.ReLU6()({COO}).to_dense()"],
    "paddle.sparse.nn.LeakyReLU": [f"paddle.sparse.nn.LeakyReLU(0.1)({SCALED}).to_dense()", f"paddle.sparse.nn.functional.leaky_relu({SCALED}).values()"],
    "paddle.sparse.nn.Softmax": [f"paddle.sparse.nn.Softmax()({CSR}).to_dense()", f"paddle.sparse.nn.Softmax()({COO}).to_dense()", f"paddle.sparse.nn.Softmax(axis=0)({CSR})", "paddle.sparse.nn.functional.softmax(paddle.sparse.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0], [2, 3])).values()"],
    "paddle.sparse.nn.BatchNorm": [f"l = fixed(paddle.sparse.nn.BatchNorm(2))\n[l({POINTS}).values(), str(l), l._mean, l._variance]", f"l = fixed(paddle.sparse.nn.BatchNorm(2))\nl.eval()\nl({POINTS}).values()"],
    "paddle.sparse.nn.Conv3D": [f"l = fixed(paddle.sparse.nn.Conv3D(2, 3, 3, padding=1))\ny = l({POINTS})\n[y.shape, y.to_dense(), str(l)]", f"l = fixed(paddle.sparse.nn.Conv3D(2, 2, 2, stride=2, bias_attr=False))\nl({POINTS}).to_dense()", f"l = fixed(paddle.sparse.nn.Conv3D(2, 2, 3))\nx = {POINTS}\nl(x).values().sum().backward()\n[l.weight.grad, x.grad.values()]", "described(paddle.sparse.nn.Conv3D(2, 3, 3))"],
    "paddle.sparse.nn.SubmConv3D": [f"l = fixed(paddle.sparse.nn.SubmConv3D(2, 3, 3, padding=1))\ny = l({POINTS})\n[y.shape, y.indices(), y.values(), str(l)]", f"l = fixed(paddle.sparse.nn.SubmConv3D(2, 2, 3))\nx = {POINTS}\nl(x).values().sum().backward()\n[l.weight.grad, x.grad.values()]"],
    "paddle.sparse.nn.Conv2D": [f"l = fixed(paddle.sparse.nn.Conv2D(2, 3, 3, padding=1))\nl({PLANE}).to_dense()", "described(paddle.sparse.nn.Conv2D(2, 3, 3))"],
    "paddle.sparse.nn.SubmConv2D": [f"l = fixed(paddle.sparse.nn.SubmConv2D(2, 3, 3, padding=1))\ny = l({PLANE})\n[y.indices(), y.values()]"],
    "paddle.sparse.nn.MaxPool3D": [f"paddle.sparse.nn.MaxPool3D(2, 1)({POINTS}).to_dense()", "str(paddle.sparse.nn.MaxPool3D(2))"],
    "paddle.sparse": ["public(paddle.sparse)", "public(paddle.sparse.nn)", "public(paddle.sparse.nn.functional)"],
    "paddle.Tensor.to_sparse_coo": ["R([2, 3]).to_sparse_coo(2).to_dense()", "T([[0.0, 1.0], [2.0, 0.0]]).to_sparse_coo(2).indices()", "T([[0.0, 0.0], [2.0, 3.0]]).to_sparse_coo(1).values()", "T([[0.0, 1.0], [2.0, 0.0]]).to_sparse_csr().cols()"],
    "paddle.sparse.nn.functional.attention": ["q = R([1, 1, 3, 2])\nm = paddle.sparse.sparse_csr_tensor([0, 2, 3, 5], [0, 1, 1, 0, 2], [1.0, 1.0, 1.0, 1.0, 1.0], [1, 3, 3])\npaddle.sparse.nn.functional.attention(q, q, q, m)"],
}

DIFFERS = {
    "operands of two formats, or sizes that don't fit, are a ValueError": {"": [
        "paddle.sparse.add(paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [3, 3]), paddle.sparse.sparse_csr_tensor([0, 1, 2, 3], [1, 2, 0], [1.0, 2.0, 3.0], [3, 3]))",
        "paddle.sparse.subtract(paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [3, 3]), paddle.sparse.sparse_csr_tensor([0, 1, 2, 3], [1, 2, 0], [1.0, 2.0, 3.0], [3, 3]))",
        "paddle.sparse.multiply(paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [3, 3]), paddle.sparse.sparse_csr_tensor([0, 1, 2, 3], [1, 2, 0], [1.0, 2.0, 3.0], [3, 3]))",
        "paddle.sparse.divide(paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [3, 3]), paddle.sparse.sparse_csr_tensor([0, 1, 2, 3], [1, 2, 0], [1.0, 2.0, 3.0], [3, 3]))",
        "paddle.sparse.matmul(paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [3, 3]), R([2, 2]))",
        "paddle.sparse.nn.Softmax(axis=0)(paddle.sparse.sparse_csr_tensor([0, 1, 2, 3], [1, 2, 0], [1.0, 2.0, 3.0], [3, 3]))",
    ]},
    "official's running statistics ask for gradients, which nothing gives": {"": [
        "l = fixed(paddle.sparse.nn.BatchNorm(2))\n[l(paddle.sparse.sparse_coo_tensor([[0, 0, 0], [0, 1, 2], [0, 1, 1], [0, 2, 1]], R([3, 2]), [1, 3, 3, 3, 2], stop_gradient=False)).values(), str(l), l._mean, l._variance]",
    ]},
}  # fmt: skip
