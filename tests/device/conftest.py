"""A device of the OpenCL plugin, where there is one: PoCL runs on any CPU. scripts/plugins.sh builds the plugin."""

import os
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = Path(os.environ.get("PADDLE_OPENCL_PLUGIN", ROOT / "build/plugins/libpaddle_opencl.so"))
SECONDS = float(os.environ.get("PADDLE_DEVICE_TEST_BUDGET", "90"))
sys.path.insert(0, str(ROOT / "tests" / "op"))


def why_not():
    """Why the device can't be used; empty if it can."""
    import paddle

    if not PLUGIN.exists():
        return f"{PLUGIN} is not there: scripts/plugins.sh builds it where OpenCL's headers are installed"
    if "opencl" not in paddle.device.get_all_custom_device_type():
        paddle._core.load_device_plugin(str(PLUGIN))
    if paddle._core.device_count("opencl") == 0:
        return "there is no OpenCL device here (Debian: pocl-opencl-icd)"
    return ""


@pytest.fixture(scope="session")
def deadline():
    """The device's compiler takes a second a program: what doesn't fit in PADDLE_DEVICE_TEST_BUDGET seconds is left out."""
    return time.monotonic() + SECONDS


@pytest.fixture
def opencl():
    """The device is current inside of the test."""
    import paddle

    if reason := why_not():
        pytest.skip(reason)
    paddle.device.set_device("opencl:0")
    yield paddle
    paddle.device.set_device("cpu")
