"""The passes for programs that write no weights: text in, text out."""

import re

import paddle
import pytest
from paddle import pir

CONV = 'data_format: "NCHW", dilations: [(Int32)1, (Int32)1], groups: (Int32){groups}, padding_algorithm: "EXPLICIT", paddings: [(Int32)1, (Int32)1], strides: [(Int32)1, (Int32)1]'
NORM = 'data_format: "NCHW", epsilon: (Float)1e-05, is_test: {test}, momentum: (Float)0.9, trainable_statistics: false, use_global_stats: false'
IMAGE, FILTER, NUMBERS = "tensor<2x8x6x6x{t}>", "tensor<8x8x3x3x{t}>", "tensor<8x{t}>"


class Text:
    """A program, written line by line."""

    def __init__(self, dtype="f32"):
        self.lines, self.n, self.t = [], 0, dtype

    def op(self, name, operands, attrs, ins, outs):
        results = [f"%{self.n + i}" for i in range(len(outs))]
        self.n += len(outs)
        typed = lambda types: ", ".join(x.format(t=self.t) for x in types)  # noqa: E731
        self.lines.append(
            f'    ({", ".join(results)}) = "{name}" ({", ".join(operands)}) {{{attrs}}} : ({typed(ins)}) -> {typed(outs)}'
        )
        return results[0] if len(results) == 1 else results

    def data(self, name, shape):
        dims = ", ".join(re.findall(r"\d+(?=x)", shape))
        dtype = {"f32": "float32", "f64": "float64", "bf16": "bfloat16"}[self.t]
        attrs = f'dtype: {dtype}, name: "{name}", place: Place(undefined:0), shape: [{dims}], stop_gradient: [true]'
        return self.op("pd_op.data", [], attrs, [], [shape])

    def weight(self, name, shape):
        return self.op("builtin.parameter", [], f'parameter_name: "{name}"', [], [shape])

    def conv(self, x, w, groups=1):
        return self.op("pd_op.conv2d", [x, w], CONV.format(groups=groups), [IMAGE, FILTER], [IMAGE])

    def add(self, x, y, other=IMAGE):
        return self.op("pd_op.add", [x, y], "", [IMAGE, other], [IMAGE])

    def relu(self, x):
        return self.op("pd_op.relu", [x], "", [IMAGE], [IMAGE])

    def norm(self, x, test="true"):
        weights = [self.weight(f"{k}{self.n}", NUMBERS) for k in ("mean", "variance", "scale", "bias")]
        return self.op(
            "pd_op.batch_norm",
            [x, *weights],
            NORM.format(test=test),
            [IMAGE] + [NUMBERS] * 4,
            [IMAGE] + [NUMBERS] * 4 + ["tensor<0xu8>"],
        )

    def out(self, x, shape=IMAGE):
        self.op("builtin.shadow_output", [x], f'output_name: "o{len(self.lines)}"', [shape], [])

    def run(self, passes):
        program = pir.parse("{\n" + "\n".join(self.lines) + "\n}\n")
        manager = pir.PassManager(verify=True)
        manager.add_pipeline(passes)
        manager.run(program)
        program.verify(True)
        assert str(pir.parse(str(program))) == str(program)
        return program


def names(program):
    return [op.name().split(".")[1] for op in program.global_block().ops]


def find(program, name):
    return [op for op in program.global_block().ops if op.name() == name]


CHANNELS = "tensor<1x8x1x1x{t}>"


def scaled(t, x, of_weights=True):
    """(x - mean) * factor * scale + bias per channel, as an evaluating batch_norm is written out."""
    for name in ("subtract", "multiply", "multiply", "add"):
        w = t.weight(f"{name}{t.n}", CHANNELS) if of_weights else t.data(f"{name}{t.n}", CHANNELS)
        x = t.op(f"pd_op.{name}", [x, w], "", [IMAGE, CHANNELS], [IMAGE])
    return x


def test_numbers_per_channel_become_part_of_the_convolution():
    t = Text()
    t.out(scaled(t, t.conv(t.data("x", IMAGE), t.weight("w", FILTER))))
    program = t.run("fold_scales,dead_code")
    conv, last = find(program, "pd_op.conv2d")[0], find(program, "pd_op.add")[-1]
    assert conv.operand_source(1).get_defining_op().name() == "pd_op.multiply"
    assert last.operand_source(0).get_defining_op() == conv
    images = [op.name() for op in program.global_block().ops if op.results() and op.result(0).shape == [2, 8, 6, 6]]
    assert images == ["pd_op.data", "pd_op.conv2d", "pd_op.add"]


@pytest.mark.parametrize("case", ["no weights", "used twice", "a filter that is computed", "only sums"])
def test_numbers_per_channel_stay(case):
    t = Text()
    x, w = t.data("x", IMAGE), t.weight("w", FILTER)
    if case == "a filter that is computed":
        w = t.data("w2", FILTER)
    y = t.conv(x, w)
    if case == "only sums":
        t.out(t.add(y, t.weight("b", CHANNELS), CHANNELS))
    else:
        t.out(scaled(t, y, case != "no weights"))
    if case == "used twice":
        t.out(y)
    before = names(pir.parse("{\n" + "\n".join(t.lines) + "\n}\n"))
    assert names(t.run("fold_scales")) == before


def test_what_comes_before_the_numbers_may_be_widened():
    """In bfloat16 a norm computes in float32; what remains is a convolution in bfloat16."""
    t = Text("bf16")
    wide, channels = IMAGE.replace("{t}", "f32"), CHANNELS.replace("{t}", "f32")
    y = t.conv(t.data("x", IMAGE), t.weight("w", FILTER))
    y = t.op("pd_op.cast", [y], "dtype: float32", [IMAGE], [wide])
    y = t.op("pd_op.multiply", [y, t.weight("s", channels)], "", [wide, channels], [wide])
    t.out(t.op("pd_op.cast", [y], "dtype: bfloat16", [wide], [IMAGE]))
    program = t.run("fold_scales,dead_code")
    assert names(program)[-2:] == ["conv2d", "shadow_output"]


def test_unchanged_statistics_are_not_written():
    for test, kept in (("true", 0), ("false", 1)):
        t = Text()
        y = t.norm(t.data("x", IMAGE), test)
        mean = re.search(r'"(mean\d+)"', "".join(t.lines)).group(1)
        t.out(y[0])
        t.op("builtin.set_parameter", [y[1]], f'parameter_name: "{mean}"', [NUMBERS], [])
        assert str(t.run("drop_unchanged_writes")).count("builtin.set_parameter") == kept


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_a_convolution_takes_bias_sum_and_relu(dtype):
    t = Text(dtype)
    x, w, b = t.data("x", IMAGE), t.weight("w", FILTER), t.weight("b", "tensor<1x8x1x1x{t}>")
    t.out(t.relu(t.add(t.add(t.conv(x, w), b, "tensor<1x8x1x1x{t}>"), x)))
    program = t.run("fuse_epilogue,dead_code")
    fused = find(program, "pd_op.fused_conv2d_add_act")[0]
    assert "relu" not in names(program) and "add" not in names(program)
    assert fused.attrs()["activation"] == "relu" and fused.operand_source(3) == fused.operand_source(0)
    assert fused.operand_source(2).shape == [8]


def test_of_two_convolutions_that_are_added_the_later_takes_the_sum():
    t = Text()
    x, w = t.data("x", IMAGE), t.weight("w", FILTER)
    t.out(t.add(t.conv(x, w), t.conv(x, w)))
    assert names(t.run("fuse_epilogue"))[2:4] == ["conv2d", "fused_conv2d_add_act"]


def scale_of_filters(t, w, shape="tensor<8x1x1x1x{t}>"):
    return t.op("pd_op.multiply", [w, t.weight("s", shape)], "", [FILTER, shape], [FILTER])


def test_a_convolution_takes_what_its_filters_are_multiplied_by():
    t = Text()
    x, w = t.data("x", IMAGE), t.weight("w", FILTER)
    t.out(t.conv(x, scale_of_filters(t, w)))
    program = t.run("fuse_epilogue,dead_code")
    fused = find(program, "pd_op.fused_conv2d_add_act")[0]
    assert "multiply" not in names(program) and fused.attrs()["activation"] == "identity"
    assert fused.operand_source(1) == find(program, "builtin.parameter")[0].result(0)
    assert fused.operand_source(4).shape == [8]


@pytest.mark.parametrize("case", ["narrow", "used twice", "a number per channel of the image"])
def test_scaled_filters_that_stay(case):
    t = Text("bf16" if case == "narrow" else "f32")
    x, w = t.data("x", IMAGE), t.weight("w", FILTER)
    scaled = scale_of_filters(t, w, CHANNELS if case.startswith("a number") else "tensor<8x1x1x1x{t}>")
    t.out(t.conv(x, scaled))
    if case == "used twice":
        t.out(t.conv(x, scaled))
    assert "multiply" in names(t.run("fuse_epilogue,dead_code"))


@pytest.mark.parametrize("case", ["double", "depthwise", "used twice"])
def test_convolutions_that_stay(case):
    t = Text("f64" if case == "double" else "f32")
    x, groups = t.data("x", IMAGE), 8 if case == "depthwise" else 1
    filters = FILTER.replace("8x8x", "8x1x") if groups == 8 else FILTER
    w = t.weight("w", filters)
    y = t.op("pd_op.conv2d", [x, w], CONV.format(groups=groups), [IMAGE, filters], [IMAGE])
    t.out(t.relu(y))
    if case == "used twice":
        t.out(y)
    assert "fused_conv2d_add_act" not in names(t.run("fuse_epilogue"))


def linear(after_first=None, rank=2):
    """x y + b, and what comes after."""
    t = Text()
    lead = "5x" * (rank - 2)
    shape = f"tensor<{lead}3x4x{{t}}>"
    x, w, b = t.data("x", f"tensor<{lead}3x6x{{t}}>"), t.weight("w", "tensor<6x4x{t}>"), t.weight("b", "tensor<4x{t}>")
    y = t.op(
        "pd_op.matmul", [x, w], "transpose_x: false, transpose_y: false", [f"tensor<{lead}3x6x{{t}}>", "tensor<6x4x{t}>"], [shape]
    )  # fmt: skip
    y = t.op("pd_op.add", [y, b], "", [shape, "tensor<4x{t}>"], [shape])
    if after_first:
        y = t.op(after_first, [y], "", [shape], [shape])
    t.out(y, shape)
    return names(t.run("fuse_epilogue"))


@pytest.mark.parametrize("rank", [2, 3])
def test_a_product_takes_its_bias_where_no_group_could(rank):
    assert "fused_gemm_epilogue" in linear(rank=rank)
    assert "fused_gemm_epilogue" not in linear("pd_op.relu", rank)  # one compiled group with the bias


def test_transposes_become_flags():
    t = Text()
    x, y = t.data("x", "tensor<5x6x3x{t}>"), t.data("y", "tensor<5x4x6x{t}>")
    turn = lambda v, a, b, perm: t.op("pd_op.transpose", [v], f"perm: [{perm}]", [a], [b])  # noqa: E731
    perm = "(Int32)0, (Int32)2, (Int32)1"
    x = turn(x, "tensor<5x6x3x{t}>", "tensor<5x3x6x{t}>", perm)
    y = turn(y, "tensor<5x4x6x{t}>", "tensor<5x6x4x{t}>", perm)
    z = t.op("pd_op.matmul", [x, y], "transpose_x: false, transpose_y: false", ["tensor<5x3x6x{t}>", "tensor<5x6x4x{t}>"], ["tensor<5x3x4x{t}>"])  # fmt: skip
    t.out(z, "tensor<5x3x4x{t}>")
    program = t.run("canonicalise")
    assert names(program) == ["data", "data", "matmul", "shadow_output"]
    assert find(program, "pd_op.matmul")[0].attrs()["transpose_x"] is True
    assert find(program, "pd_op.matmul")[0].attrs()["transpose_y"] is True


def test_connected_convolutions_run_with_channels_last():
    t = Text()
    x, w = t.data("x", IMAGE), t.weight("w", "tensor<8x8x1x1x{t}>")
    conv = lambda v: t.op("pd_op.conv2d", [v, w], CONV.format(groups=1).replace("paddings: [(Int32)1, (Int32)1]", "paddings: [(Int32)0, (Int32)0]"), [IMAGE, "tensor<8x8x1x1x{t}>"], [IMAGE])  # noqa: E731 # fmt: skip
    t.out(conv(t.relu(t.add(conv(x), x))))
    program = t.run("channels_last")
    assert names(program) == ["data", "parameter", "transpose", "conv2d", "add", "relu", "conv2d", "transpose", "shadow_output"]  # fmt: skip
    assert [op.attrs()["data_format"] for op in find(program, "pd_op.conv2d")] == ["NHWC"] * 2


def test_operators_along_an_axis_keep_the_layout():
    """What their sharding rules say: all axes of operands and result correspond, one of them is named."""
    t = Text()
    x, w = t.data("x", IMAGE), t.weight("w", "tensor<8x8x1x1x{t}>")
    attrs = CONV.format(groups=1).replace("paddings: [(Int32)1, (Int32)1]", "paddings: [(Int32)0, (Int32)0]")
    conv = lambda v: t.op("pd_op.conv2d", [v, w], attrs, [IMAGE, "tensor<8x8x1x1x{t}>"], [IMAGE])  # noqa: E731
    t.out(conv(t.op("pd_op.softmax", [conv(x)], "axis: (Int32)1", [IMAGE], [IMAGE])))
    program = t.run("channels_last")
    assert names(program) == ["data", "parameter", "transpose", "conv2d", "softmax", "conv2d", "transpose", "shadow_output"]  # fmt: skip
    assert find(program, "pd_op.softmax")[0].attrs()["axis"] == 3


def test_a_convolution_alone_keeps_its_layout():
    t = Text()
    t.out(t.conv(t.data("x", IMAGE), t.weight("w", FILTER)))
    assert names(t.run("channels_last")) == ["data", "parameter", "conv2d", "shadow_output"]


def test_what_follows_from_weights_is_held():
    t = Text()
    x, w = t.data("x", NUMBERS), t.weight("w", NUMBERS)
    doubled = t.op("pd_op.add", [w, w], "", [NUMBERS, NUMBERS], [NUMBERS])
    t.out(t.op("pd_op.multiply", [x, doubled], "", [NUMBERS] * 2, [NUMBERS]), NUMBERS)
    given_out = t.op("pd_op.exp", [w], "", [NUMBERS], [NUMBERS])
    t.out(given_out, NUMBERS)
    program = t.run("hold_weights")
    hold = find(program, "builtin.hold")[0]
    assert [op.name() for op in hold.blocks()[0].ops] == ["pd_op.add", "cf.yield"]
    assert "exp" in names(program)  # the caller may write there
    assert find(program, "pd_op.multiply")[0].operand_source(1) == hold.result(0)


def test_nothing_larger_than_the_weights_is_held():
    t = Text()
    x, w = t.data("x", "tensor<50x8x{t}>"), t.weight("w", NUMBERS)
    shape = t.op("pd_op.full_int_array", [], "dtype: int64, place: Place(cpu), value: [(Int64)50, (Int64)8]", [], ["tensor<2xi64>"])  # fmt: skip
    wide = t.op("pd_op.expand", [w, shape], "", [NUMBERS, "tensor<2xi64>"], ["tensor<50x8x{t}>"])
    wide = t.op("pd_op.exp", [wide], "", ["tensor<50x8x{t}>"], ["tensor<50x8x{t}>"])
    t.out(t.op("pd_op.multiply", [x, wide], "", ["tensor<50x8x{t}>"] * 2, ["tensor<50x8x{t}>"]), "tensor<50x8x{t}>")
    assert "hold" not in names(t.run("hold_weights"))


def test_all_are_known_by_name():
    known = set(pir.registered_passes())
    assert {"fold_scales", "fuse_epilogue", "channels_last", "hold_weights"} <= known
    assert paddle.__version__
