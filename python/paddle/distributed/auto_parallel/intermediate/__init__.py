"""Parallelism by plans: a layer's name says how it is cut, the model stays as it was written for one process."""
