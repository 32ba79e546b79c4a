"""A device of the OpenCL plugin, where there is one: PoCL runs on any CPU. scripts/plugins.sh builds the plugin."""

import os
import sys
import time

import pytest
from opencl_plugin import ROOT, why_not

SECONDS = float(os.environ.get("PADDLE_DEVICE_TEST_BUDGET", "90"))
sys.path.insert(0, str(ROOT / "tests" / "op"))


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
