"""Places, copies and what the device module says about a plugin's devices."""

import subprocess
import sys

import numpy as np
import pytest
from opencl_plugin import ROOT


def test_device_module(opencl):
    paddle = opencl
    assert "opencl" in paddle.device.get_all_custom_device_type()
    assert "opencl:0" in paddle.device.get_available_custom_device()
    assert paddle.device.get_device() == "opencl:0"
    assert paddle.device.is_compiled_with_custom_device("opencl")
    place = paddle.CustomPlace("opencl", 0)
    assert place.is_custom_place()
    assert place.get_device_type() == "opencl"
    assert place.get_device_id() == 0
    assert paddle.device.set_device("opencl") == place
    paddle.device.synchronize()


def test_unknown_devices_are_named(opencl):
    paddle = opencl
    with pytest.raises(ValueError, match="opencl"):
        paddle.device.set_device("opencl:99")
    with pytest.raises(ValueError, match="opencl"):
        paddle.device.set_device("no_such_device")


def test_to_the_device_and_back(opencl):
    paddle = opencl
    a = np.arange(24, dtype="float32").reshape(2, 3, 4)
    x = paddle.to_tensor(a)
    assert x.place.is_custom_place()
    host = x.cpu()
    assert host.place.is_cpu_place()
    np.testing.assert_array_equal(host.numpy(), a)
    np.testing.assert_array_equal(host.to("opencl").numpy(), a)
    assert paddle.ones([2]).place == x.place
    assert x[1, 2, 3].item() == 23.0


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "float64", "complex128"])
def test_strided_copies(opencl, dtype):
    paddle = opencl
    a = (np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5) % 7).astype(dtype)
    x = paddle.to_tensor(a)
    for view, want in [
        (x.transpose([3, 1, 0, 2]), a.transpose(3, 1, 0, 2)),
        (x[:, ::2, 1:3], a[:, ::2, 1:3]),
        (x[1, :, 3, 2], a[1, :, 3, 2]),
    ]:
        np.testing.assert_array_equal(view.numpy(), want)
        np.testing.assert_array_equal(view.clone().numpy(), want)


def test_writes_into_views(opencl):
    paddle = opencl
    a = np.zeros((4, 6), "float32")
    x = paddle.to_tensor(a)
    x[1:3, ::2] = paddle.full([2, 3], 5.0)
    a[1:3, ::2] = 5
    x[3] = 1.5
    a[3] = 1.5
    x[:, 1].add_(paddle.ones([4]))
    a[:, 1] += 1
    np.testing.assert_array_equal(x.numpy(), a)


def test_fallback_to_the_host_can_be_forbidden(opencl):
    paddle = opencl
    x = paddle.to_tensor(np.array([[2.0, 1.0], [1.0, 3.0]], "float32"))
    values = paddle.linalg.eigvalsh(x).numpy()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(x.numpy()), rtol=1e-5)
    paddle.set_flags({"FLAGS_forbid_host_fallback": True})
    try:
        with pytest.raises(NotImplementedError, match="opencl:0"):
            paddle.linalg.eigvalsh(x)
        np.testing.assert_allclose((x + x).numpy(), 2 * x.numpy())
    finally:
        paddle.set_flags({"FLAGS_forbid_host_fallback": False})


def test_a_plugins_own_kernels():
    plugin = ROOT / "build/tests/device/plugins/good.so"
    if not plugin.exists():
        pytest.skip("the plugins of the C++ tests are not built")
    program = f"""
import numpy as np, paddle
paddle._core.load_device_plugin({str(plugin)!r})
x = paddle.to_tensor(np.array([1.0, -2.0], "float32")).to("good:1")
np.testing.assert_array_equal(paddle.abs(x).numpy(), [1.0, 2.0])
np.testing.assert_array_equal(x.reshape([2, 1]).cpu().numpy(), [[1.0], [-2.0]])
try:
    paddle.exp(x)
except NotImplementedError as e:
    assert "good:1" in str(e), e
else:
    raise AssertionError("a device without a compiler has computed")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
