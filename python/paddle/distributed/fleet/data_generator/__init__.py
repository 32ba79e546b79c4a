"""Programs that turn lines of text into the slots that a data set of files reads."""

from .data_generator import DataGenerator, MultiSlotDataGenerator, MultiSlotStringDataGenerator

__all__ = ["DataGenerator"]
_ = MultiSlotDataGenerator, MultiSlotStringDataGenerator
