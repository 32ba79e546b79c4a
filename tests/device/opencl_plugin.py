"""Where the OpenCL plugin is, and whether its device can be used."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = Path(os.environ.get("PADDLE_OPENCL_PLUGIN", ROOT / "build/plugins/libpaddle_opencl.so"))


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
