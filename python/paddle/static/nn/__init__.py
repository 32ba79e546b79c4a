"""Layers as functions, and control flow whose branches and bodies become part of the program."""

from ..host_call import py_func  # noqa: F401
from ..variables import create_parameter  # noqa: F401
from .common import *  # noqa: F403
from .control_flow import *  # noqa: F403
from .conv import *  # noqa: F403
from .pylayer import *  # noqa: F403
