"""Searches from many sources, each alone on a thread with the textbook queue.

Work: that of the single searches. Where frontiers are thin, as in grids and roads, two searches seldom meet at a
vertex on the same level, and `bit_parallel` has nothing to share. Here no thread waits for another: each takes the next
source as soon as it is done with its last.

========================  =============================================================
``distances[k, n]``       a row per source; in `summarize` a row per thread
``queues[threads, n]``    vertices in the order of discovery
``visited[threads, w]``   bitmaps of vertices
``masked[w]``             bitmap of the vertices that no search enters, or of length 0
``counts[threads, n]``    vertices of the thread's source by level; 0 before and after
``next_source[1]``        the next source to take
========================  =============================================================
"""

from collections import namedtuple

from . import sequential
from .atomics import fetch_add
from .compiled import serial
from .team import shared

Searches = namedtuple("Searches", "offsets targets queues visited masked counts next_source")


@serial
def _search(b, sources, i, depth_limit, distances, thread):
    queue = b.queues[thread]
    return sequential.search(
        b.offsets, b.targets, sources[i : i + 1], depth_limit, sequential.NO_TARGET,
        distances, queue[:0], queue, b.visited[thread], b.masked,
    )  # fmt: skip


@shared
def _search_next(arguments, thread):
    b, sources, depth_limit, distances = arguments
    while True:
        i = fetch_add(b.next_source, 0, 1)
        if i >= len(sources):
            return 0
        _search(b, sources, i, depth_limit, distances[i], thread)


@shared
def _summarize_next(arguments, thread):
    b, sources, depth_limit, distances, summary = arguments
    queue, counts = b.queues[thread], b.counts[thread]
    while True:
        i = fetch_add(b.next_source, 0, 1)
        if i >= len(sources):
            return 0
        reached = _search(b, sources, i, depth_limit, distances[thread], thread)
        for place in range(reached):
            counts[distances[thread, queue[place]]] += 1
        deepest = distances[thread, queue[reached - 1]]
        counts[0] = 0
        for level in range(1, deepest + 1):
            count = counts[level]
            counts[level] = 0
            summary.total[i] += level * count
            summary.harmonic[i] += count / level
        summary.reached[i] = reached
        summary.eccentricity[i] = deepest


@serial
def search(b, sources, depth_limit, distances, team, threads):
    """Fill ``distances[k, n]``, -1 where a source does not reach."""
    b.next_source[0] = 0
    _search_next(team, threads, (b, sources, depth_limit, distances))


@serial
def summarize(b, sources, depth_limit, distances, summary, team, threads):
    """Complete the ``summary``, as `bit_parallel.search` does."""
    b.next_source[0] = 0
    _summarize_next(team, threads, (b, sources, depth_limit, distances, summary))
