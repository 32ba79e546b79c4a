"""The chi-squared distribution."""

from __future__ import annotations

from .distribution import as_parameter
from .gamma import Gamma

__all__ = []


class Chi2(Gamma):
    """The sum of squares of `df` standard normal numbers.

    Args:
        df (float | Tensor): degrees of freedom, above 0.
    """

    def __init__(self, df):
        self.df = as_parameter("df", df)
        super().__init__(self.df * 0.5, 0.5)
