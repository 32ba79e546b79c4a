"""Files that are cut, padded, flipped or hostile: ``paddle.load`` and ``paddle.jit.load`` refuse them with a typed error
that says what and where, and never crash, hang, or take memory that the file doesn't account for."""
import io
import json
import pickle
import random
import resource
import struct
from pathlib import Path

import numpy as np
import pytest

paddle = pytest.importorskip("paddle")
from paddle.framework.unpickler import LoadError  # noqa: E402

FIXTURES = Path(__file__).parents[1] / "fixtures"
PICKLES = ("mlp.pdparams", "mlp.pdopt", "nested.pdparams", "protocol2.pdparams", "bf16.pdparams", "tensor.pdtensor")
SIZES = [b"\xff\xff\xff\x7f", b"\xff" * 8, b"\0\0\0\x80", b"\0\0\0\0\x10"]
OPCODES = b"cRbtNl)}]eusqhrj0(.2X\x8c\x95\x96\x8aBCU"


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, way = rng.randrange(max(1, len(data))), rng.randrange(6)
        if way == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif way == 1 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif way == 2:
            del data[at : at + rng.randint(1, 20)]
        elif way == 3:
            start = rng.randrange(max(1, len(data)))
            data[at:at] = data[start : start + rng.randint(1, 30)]
        elif way == 4:
            size = rng.choice(SIZES)
            data[at : at + len(size)] = size
        else:
            data[at : at + 1] = bytes([rng.choice(OPCODES)])
    return bytes(data)


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@pytest.mark.parametrize("name", PICKLES)
def test_every_cut_of_saved_tensors_is_refused(name):
    data = (FIXTURES / name).read_bytes()
    for n in range(1 if name.endswith("pdtensor") else 0, len(data)):
        with pytest.raises(LoadError):
            paddle.load(io.BytesIO(data[:n]))


@pytest.mark.parametrize("seed", range(4))
def test_damaged_saved_tensors_load_or_are_refused(seed):
    rng = random.Random(seed)
    sources = [(FIXTURES / n).read_bytes() for n in PICKLES]
    before = peak_mb()
    for _ in range(1500):
        data = damaged(rng.choice(sources), rng)
        for as_arrays in (True, False):
            try:
                paddle.load(io.BytesIO(data), return_numpy=as_arrays)
            except LoadError:
                pass
    assert peak_mb() < before + 100


def named(array, name):
    return pickle.dumps({"w": array, "StructuredToParameterName@@": {"w": name}})


def deep_list(depth):
    return b"\x80\x04" + b"]" * depth + b"a" * (depth - 1) + b"."


@pytest.mark.parametrize(
    "data, match",
    [
        (b"\x80\x04\x96" + struct.pack("<Q", 1 << 40) + b"x.", "1099511627776 bytes where 2 are left"),
        (b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + b"x.", "1099511627776 bytes where 2 are left"),
        (b"\x80\x04\x8e" + struct.pack("<Q", 1 << 62) + b"x.", "bytes where 2 are left"),
        (b"\x80\x02\x8b" + struct.pack("<i", 1 << 30) + b"x.", "bytes where 2 are left"),
        (named(np.ones(2, np.float32), 5), "can't be a tensor: .*name"),
        (pickle.dumps({"w": np.array(["a", "b"]), "StructuredToParameterName@@": {}}), "can't be a tensor"),
        (deep_list(100000), "can't be a tensor|Recursion"),
        (b"", "near byte 0"),
        (b"\x80\x09.", "protocol"),
    ],
)
def test_hostile_pickles_say_what_and_where(data, match, tmp_path):
    path = tmp_path / "hostile.pdparams"
    path.write_bytes(data)
    before = peak_mb()
    with pytest.raises(LoadError, match=f"(?s)hostile.pdparams.*({match})"):
        paddle.load(str(path))
    assert peak_mb() < before + 100


# ---- saved programs
PROGRAMS = ("program_mlp", "program_conv")
REFUSALS = (ValueError, TypeError, IndexError, NotImplementedError, MemoryError, OSError, RuntimeError)


def write(folder, program, parameters):
    (folder / "net.json").write_bytes(program)
    if parameters is not None:
        (folder / "net.pdiparams").write_bytes(parameters)
    return str(folder / "net")


def load_and_run(path, x):
    return paddle.jit.load(path)(paddle.to_tensor(x)).numpy()


def fixture(name):
    program, parameters = ((FIXTURES / f"{name}{end}").read_bytes() for end in (".json", ".pdiparams"))
    return program, parameters, np.load(FIXTURES / f"{name}_in.npy"), np.load(FIXTURES / f"{name}_out.npy")


@pytest.mark.parametrize("name", PROGRAMS)
def test_cut_programs_and_parameters_are_refused(name, tmp_path):
    program, parameters, x, out = fixture(name)
    np.testing.assert_allclose(load_and_run(write(tmp_path, program, parameters), x), out, rtol=1e-4, atol=1e-5)
    for n in range(0, len(program), 97):
        with pytest.raises(ValueError, match="net.json"):
            paddle.jit.load(write(tmp_path, program[:n], parameters))
    for n in range(0, len(parameters), 7):
        with pytest.raises(ValueError, match="net.pdiparams.*(tensor|parameters)"):
            paddle.jit.load(write(tmp_path, program, parameters[:n]))
    with pytest.raises(ValueError, match="net.json"):
        paddle.jit.load(write(tmp_path, program + b"x", parameters))
    with pytest.raises(ValueError, match="net.pdiparams"):
        paddle.jit.load(write(tmp_path, program, parameters + b"\0" * 40))
    (tmp_path / "net.pdiparams").unlink()
    with pytest.raises(ValueError, match="net.pdiparams.*no such file"):
        paddle.jit.load(write(tmp_path, program, None))


@pytest.mark.parametrize("name", PROGRAMS)
def test_damaged_programs_run_or_are_refused(name, tmp_path):
    program, parameters, x, _ = fixture(name)
    rng = random.Random(name)
    before = peak_mb()
    for _ in range(150):
        path = write(tmp_path, damaged_json(program, rng), parameters)
        try:
            load_and_run(path, x)
        except REFUSALS as error:
            assert str(error)
    assert peak_mb() < before + 400


def damaged_json(program, rng):
    """Well-formed JSON in which one or two values are other ones of the file, or odd."""
    tree = json.loads(program)
    slots = []

    def walk(node):
        for key in range(len(node)) if isinstance(node, list) else list(node):
            slots.append((node, key))
            if isinstance(node[key], (dict, list)):
                walk(node[key])

    walk(tree["program"])
    odd = [-1, 0, 1, 2, 3, 5, 1 << 31, 1 << 62, -(1 << 63), 1e300, "", "NHWC", True, None, []]
    for _ in range(rng.randint(1, 2)):
        node, key = rng.choice(slots)
        same = [n[k] for n, k in slots if type(n[k]) is type(node[key]) and not isinstance(n[k], (dict, list))]
        node[key] = rng.choice(same) if same and rng.random() < 0.7 else rng.choice(odd)
    return json.dumps(tree).encode()


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda t: t["base_code"].update(version=99), "version 99 is unknown"),
        (lambda t: t["base_code"].update(magic="onnx"), "magic"),
        (lambda t: t.pop("program"), 'the key "program"'),
        (lambda t: ops(t)[-1].update({"#": "1.no_such_op"}), "no_such_op"),
        (lambda t: op(t, "1.matmul")["I"][1].update(op(t, "1.add")["I"][1]), "matmul. can't be: "),
        (lambda t: op(t, "1.matmul")["I"][1].update({"%": 12345}), "operand 12345 is not defined"),
        (lambda t: op(t, "1.data")["A"].clear(), 'data.*"name" is missing'),
        (lambda t: op(t, "1.data")["O"][0]["TT"].update({"#": "0.t_vec", "D": []}), "expected one tensor"),
    ],
)
def test_bad_programs_say_what_and_where(change, match, tmp_path):
    program, parameters, _, _ = fixture("program_mlp")
    tree = json.loads(program)
    change(tree)
    with pytest.raises((ValueError, NotImplementedError), match=f"(?s)net.json.*{match}"):
        paddle.jit.load(write(tmp_path, json.dumps(tree).encode(), parameters))


def ops(tree):
    return tree["program"]["regions"][0]["blocks"][0]["ops"]


def op(tree, name):
    return next(o for o in ops(tree) if o["#"] == name)


@pytest.mark.parametrize(
    "x, error",
    [
        (np.ones((5, 3), "float32"), ValueError),
        (np.ones((4,), "float32"), ValueError),
        (np.ones((2, 5, 4), "float32"), ValueError),
        (np.ones((5, 4), "float64"), TypeError),
        (np.ones((5, 4), "int64"), TypeError),
    ],
)
def test_inputs_that_a_program_was_not_saved_for(x, error):
    layer = paddle.jit.load(str(FIXTURES / "program_mlp"))
    with pytest.raises(error, match=r'input 0 "x": the program expects float32 \[-1, 4\]'):
        layer(paddle.to_tensor(x))


def test_a_program_that_lies_about_sizes_computes_what_its_operators_say(tmp_path):
    program, parameters, x, out = fixture("program_mlp")
    tree = json.loads(program)
    for o in ops(tree):
        if o["#"] in ("1.matmul", "1.add", "1.relu"):
            o["O"][0]["TT"]["D"][1] = [1, 1]
    path = write(tmp_path, json.dumps(tree).encode(), parameters)
    np.testing.assert_allclose(load_and_run(path, x), out, rtol=1e-4, atol=1e-5)
