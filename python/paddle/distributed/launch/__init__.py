"""``python -m paddle.distributed.launch``: starts the ranks of a job. Standard library only, so that it starts at once.

The files in the order a job passes through them: ``args`` (flags and variables), ``scheduler`` (what MPI or Slurm says),
``rendezvous`` (launchers of several machines find each other), ``environ`` (the variables of each rank), ``workers``
(processes and their logs), ``main``.
"""

__all__ = []
