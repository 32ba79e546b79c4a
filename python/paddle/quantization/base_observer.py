"""The base class of observers."""

from __future__ import annotations

import abc

from .base_quanter import BaseQuanter

__all__ = []


class BaseObserver(BaseQuanter, metaclass=abc.ABCMeta):
    """A quantiser that leaves its input as it is and only measures."""

    @abc.abstractmethod
    def cal_thresholds(self):
        """Computes scales and zero points from what was measured."""
