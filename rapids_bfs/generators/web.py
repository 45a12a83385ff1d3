"""Graphs like the web's: pages on hosts, whose links are copied from earlier pages."""

from __future__ import annotations

import numpy as np

from .._core.csr.building import offsets_of
from .._core.dtypes import index_dtype
from ..graph import Graph
from .drawn import SEED
from .draws import Draws
from .models import model_size

LINKS = 12  # mean number of links drawn for a page
SMALLEST_HOST, LARGEST_HOST, HOST_TAIL = 8, 512, 1.1
ARCHIVES = 1 / 32  # the share of hosts whose pages form a chain
BLOCK = 1 << 16  # links drawn at a time


def web(scale: int, *, seed: int = SEED) -> Graph:
    """A directed graph like the web's: 2**scale pages, numbered host by host as in sorted URLs.

    The number of a page's links is geometric, 12 on average. Four fifths of them copy a link of an earlier page,
    mostly of the same host, so that in-degrees have a power law's tail. Of the others four fifths lead to a page of the
    host, the rest to another host's first page. Each page also links to the next of its host. The sizes of hosts have a
    heavy tail too, and one host in 32 is an archive, whose pages link to the next alone: a search has few large levels
    and then many small ones. Loops and duplicates are dropped.
    R. Kumar, P. Raghavan, S. Rajagopalan, D. Sivakumar, A. Tomkins, E. Upfal, Stochastic models for the web graph, FOCS
    2000 (copying); K. Bharat, B. Chang, M. Henzinger, M. Ruhl, Who links to whom, ICDM 2001 (hosts).
    """
    from .._core.csr.host import without_repeats_and_loops
    from .._core.threads import pool
    from .web_links import sort_rows

    n = model_size("web", scale, bytes_each=20 * LINKS)
    draws = Draws(seed)
    first, size, archive = _hosts(n, draws)
    links = 1 + np.floor(np.log1p(-draws.uniform(n)) / np.log1p(-1 / LINKS)).astype(np.int64)
    links[archive] = 0
    pages = np.arange(n)
    onward = pages + 1 < first + size
    offsets = offsets_of(links + onward)  # of each page its links, then that to the next page
    targets = np.empty(int(offsets[-1]), index_dtype(n))
    targets[offsets[1:][onward] - 1] = pages[onward] + 1
    _draw_links(draws, first, size, links, offsets, targets)
    with pool.work_on(len(targets)):
        sort_rows(offsets, targets)
    return Graph._trusted(*without_repeats_and_loops(offsets, targets), directed=True, name=f"web:{scale}")


def _hosts(n: int, draws: Draws) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each page its host's first page, the number of its host's pages, and whether the host is an archive.

    The sizes are a Pareto distribution's, between `SMALLEST_HOST` and `LARGEST_HOST`; the last host takes what is left.
    """
    most = n // SMALLEST_HOST + 1
    drawn = SMALLEST_HOST * (1 - draws.uniform(most)) ** (-1 / HOST_TAIL)
    ends = np.cumsum(np.minimum(drawn, LARGEST_HOST).astype(np.int64))
    ends = np.append(ends[ends < n], n)
    sizes = np.diff(ends, prepend=0)
    archive = draws.uniform(most)[: len(sizes)] < ARCHIVES
    return np.repeat(ends - sizes, sizes), np.repeat(sizes, sizes), np.repeat(archive, sizes)


def _draw_links(
    draws: Draws, first: np.ndarray, size: np.ndarray, links: np.ndarray, offsets: np.ndarray, targets: np.ndarray
) -> None:
    """Fill ``targets`` with the links of all pages, page by page, a block at a time."""
    from .web_links import draw_links

    total = int(links.sum())
    *streams, choices = draws.streams(7, total)
    page, place = 0, 0
    for begin in range(0, total, BLOCK):
        count = min(BLOCK, total - begin)
        chances = np.stack([stream.uniform(count) for stream in streams])
        drawn = chances, choices.uniform(count)
        page, place, used = draw_links(page, place, *drawn, first, size, links, offsets, targets)
        choices.give_back(count - used)
