"""The axis of a layer under the other name that callers use."""


class AxisAsDim:
    """Keeps `_axis`, which callers also read and write as `dim`."""

    @property
    def dim(self):
        """The axis."""
        return self._axis

    @dim.setter
    def dim(self, value):
        self._axis = value
