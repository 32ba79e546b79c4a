"""What makes readers of readers."""

from __future__ import annotations

import itertools
import multiprocessing
import queue
import random
import threading

__all__ = []

_END = object()


class ComposeNotAligned(ValueError):
    """Readers that were to be read side by side end at different samples."""


def cache(reader):
    """A reader that reads ``reader`` once, whole, and gives the same samples ever after."""
    samples = tuple(reader())
    return lambda: iter(samples)


def map_readers(func, *readers):
    """A reader of ``func``'s results for the samples of ``readers`` side by side."""
    return lambda: map(func, *(r() for r in readers))


def shuffle(reader, buf_size):
    """A reader that gives each ``buf_size`` samples in a random order (Python's generator)."""

    def shuffled():
        samples = iter(reader())
        while part := list(itertools.islice(samples, buf_size)):
            random.shuffle(part)
            yield from part

    return shuffled


def chain(*readers):
    """A reader of the samples of the first reader, then the second's, and so on."""
    return lambda: itertools.chain(*(r() for r in readers))


def compose(*readers, **kwargs):
    """A reader of tuples: the samples of ``readers`` side by side, those that are tuples spread out.

    Args:
        check_alignment (bool): whether readers of different lengths are an error (else the shortest ends it).

    Raises:
        ComposeNotAligned: the readers' lengths differ.
    """
    aligned = kwargs.pop("check_alignment", True)
    if kwargs:
        raise TypeError(f"compose() got an unexpected keyword argument {next(iter(kwargs))!r}")

    def composed():
        rows = itertools.zip_longest(*(r() for r in readers), fillvalue=_END)
        for row in rows if aligned else zip(*(r() for r in readers)):
            if any(v is _END for v in row):
                raise ComposeNotAligned("outputs of readers are not aligned.")
            yield sum((v if isinstance(v, tuple) else (v,) for v in row), ())

    return composed


def firstn(reader, n):
    """A reader of the first ``n`` samples."""
    return lambda: itertools.islice(reader(), n)


class _Failure:
    """An exception on its way from a thread."""

    def __init__(self, error):
        self.error = error


def _drain(source, count=1):
    """What comes out of a queue until ``count`` ends have come."""
    while count:
        item = source.get()
        if isinstance(item, _Failure):
            raise item.error
        if item is _END:
            count -= 1
        else:
            yield item


def buffered(reader, size):
    """A reader that reads ahead, in a thread, up to ``size`` samples."""

    def ahead():
        samples = queue.Queue(maxsize=size)

        def fill():
            try:
                for sample in reader():
                    samples.put(sample)
                samples.put(_END)
            except Exception as error:  # told where the samples are read
                samples.put(_Failure(error))

        threading.Thread(target=fill, daemon=True).start()
        yield from _drain(samples)

    return ahead


def xmap_readers(mapper, reader, process_num, buffer_size, order=False):
    """A reader of ``mapper``'s results, computed in ``process_num`` threads; with ``order`` in the reader's order."""

    def mapped():
        todo, done = queue.Queue(buffer_size), queue.Queue(buffer_size)

        def feed():
            try:
                for numbered in enumerate(reader()):
                    todo.put(numbered)
            except Exception as error:
                done.put(_Failure(error))
            for _ in range(process_num):
                todo.put(_END)

        def work():
            try:
                while (item := todo.get()) is not _END:
                    done.put((item[0], mapper(item[1])))
                done.put(_END)
            except Exception as error:
                done.put(_Failure(error))

        for target in (feed, *([work] * process_num)):
            threading.Thread(target=target, daemon=True).start()
        early, following = {}, 0
        for index, value in _drain(done, process_num):
            if not order:
                yield value
                continue
            early[index] = value
            while following in early:
                yield early.pop(following)
                following += 1

    return mapped


def _send(reader, pipe):
    try:
        for sample in reader():
            if sample is None:
                raise ValueError("sample has None")
            pipe.put((0, sample))
        pipe.put((1, None))
    except Exception as error:
        pipe.put((2, f"{type(error).__name__}: {error}"))


def multiprocess_reader(readers, use_pipe=True, queue_size=1000):
    """A reader of what ``readers`` give, each read in a process of its own, in the order of arrival.

    Raises:
        ValueError: there are no readers, or one failed (its message is kept) or gave None.
    """
    if not isinstance(readers, (list, tuple)) or not readers:
        raise ValueError("`readers` must be list or tuple of readers")

    def merged():
        context = multiprocessing.get_context("fork")
        pipe = context.Queue(queue_size)
        workers = [context.Process(target=_send, args=(r, pipe), daemon=True) for r in readers]
        for w in workers:
            w.start()
        running = len(workers)
        while running:
            kind, value = pipe.get()
            if kind == 2:
                raise ValueError(f"multiprocess_reader failed to read: {value}")
            if kind == 1:
                running -= 1
            else:
                yield value

    return merged
