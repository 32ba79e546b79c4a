"""Control flow whose branches and bodies become part of the program."""

from .control_flow import *  # noqa: F403
