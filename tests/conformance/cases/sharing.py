"""Which results look into their source: writing into one shows in the other."""

CUBE = "R([2, 3, 4])"
SQUARE = "R([3, 3])"
THIN = "R([1, 3, 1])"
ROW = "R([4])"
PAIRS = "R([2, 2])"

OF_CUBE = """
x[:]; x[...]; x[None]; x[0]; x[0:1]; x[:, ::2]; x[::-1]; x[:, :]; x[0, 0, 0]; x[..., 0]; x[[0]]; x[x > 0]; x[True]; x[()]; x[0][1]; x[:, None]
x[T(0)]; x[-1:]; x[0, ..., None]; x.transpose([1, 0, 2])[1].unsqueeze(0)
x.reshape([6, 4]); paddle.reshape(x, [-1]); x.transpose([1, 0, 2]).reshape([6, 4]); x.flatten(); paddle.ravel(x); x.squeeze(); x.unsqueeze(0); x.unsqueeze([0, 1])
x.transpose([1, 0, 2]); x.transpose([0, 1, 2]); x.mT; paddle.swapaxes(x, 0, 1); paddle.moveaxis(x, 0, 1); paddle.permute(x, [1, 0, 2])
x.unbind(0); list(x); x.unstack(0); x.split(2, 0); paddle.split(x, [1, 2], 1); paddle.split(x, 1, 0); x.chunk(2); x.tensor_split(2); x.tensor_split([1], 1); x.hsplit(3); x.vsplit(2); x.dsplit(2)
x.as_strided([2, 2], [1, 1]); paddle.slice(x, [0], [0], [1]); paddle.strided_slice(x, [0], [0], [2], [1])
x.expand([2, 3, 4]); x.expand([-1, -1, -1]); x.expand_as(x); x.broadcast_to([2, 3, 4]); paddle.broadcast_tensors([x, paddle.ones([2, 3, 4])]); x.tile([1])
x.view([6, 4]); x.view('int32'); x.view_as(paddle.ones([6, 4])); x.unflatten(2, [2, 2]); x.detach(); x.clone(); paddle.assign(x); x.contiguous(); x.cpu()
x.to('float32'); x.to('cpu'); x.astype('float32'); paddle.cast(x, 'float32'); x.type_as(x); paddle.to_tensor(x); x.abs(); x.flip(0); x.roll(0)
paddle.atleast_1d(x); paddle.crop(x, [2, 3, 4]); paddle.concat([x]); paddle.stack([x]); paddle.add_n([x]); F.dropout(x, 0.0); F.dropout(x, 0.5, training=False); nn.Identity()(x); nn.Flatten()(x)
x * 1; x + 0; x.scale(1.0); paddle.where(x >= 0, x, x); x.clip(); paddle.hstack([x]); paddle.vstack([x])
"""
OF_OTHERS = {
    SQUARE: "x.t(); paddle.t(x); x.T; x.diagonal(); paddle.diag(x); paddle.atleast_3d(x); paddle.rot90(x, 0); paddle.rot90(x, 1); paddle.einsum('ij->ji', x); paddle.einsum('ii->i', x); paddle.block_diag([x]); x.tril(10)",
    THIN: "x.squeeze(); x.squeeze(0); x.expand([2, 3, 1]); x.expand_as(paddle.ones([2, 3, 1])); x.broadcast_to([2, 3, 1])",
    ROW: "x.flatten(); x.t(); x.unfold(0, 2, 1); x.repeat_interleave(1); paddle.meshgrid(x, paddle.ones([2])); paddle.meshgrid(x); paddle.atleast_2d(x); x.sort()",
    PAIRS: "paddle.as_complex(x)",
    "R([1, 1, 2, 2])": "F.pad(x, [0, 0, 0, 0]); F.pixel_shuffle(x, 1); F.channel_shuffle(x, 1)",
    "R([2], 'complex64')": "paddle.as_real(x); x.conj(); x.real(); x.imag(); paddle.real(x)[0]",
}

CASES = [
    f"shared(lambda x: {f.strip()}, {source})"
    for source, text in ((CUBE, OF_CUBE), *OF_OTHERS.items())
    for line in text.strip().splitlines() for f in line.split("; ")
]  # fmt: skip
