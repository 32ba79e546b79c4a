"""How tensors print."""

from ..framework.printing import set_printoptions, tensor_to_string  # noqa: F401
