"""Compiled kernels that draw the links of `web`."""

from __future__ import annotations

import numpy as np

from ..kernels.cpu import prange
from ..kernels.cpu.compiled import parallel, serial

COPIED = 0.8  # the share of links that are copied
IN_HOST = 0.8  # the share of the other links that stay on the host
MODEL_IN_HOST = 0.95  # the share of copies that are made of a page on the same host


@serial
def draw_links(page, place, chances, choices, first, size, links, offsets, targets):
    """Draw as many links as ``chances`` has columns, from number ``place`` of ``page`` on; return the page and number
    of the next, and how many of ``choices`` were used: one for each copy."""
    n = len(links)
    used = 0
    for i in range(chances.shape[1]):
        while place == links[page]:
            page += 1
            place = 0
        model_from = first[page] if chances[3, i] < MODEL_IN_HOST and page > first[page] else 0
        model = model_from + np.int64(chances[4, i] * (page - model_from))
        if chances[5, i] < COPIED and model < page and links[model] > 0:
            target = targets[offsets[model] + np.int64(choices[used] * links[model])]
            used += 1
        elif chances[0, i] < IN_HOST:
            target = first[page] + np.int64(chances[1, i] * size[page])
        else:
            target = first[np.int64(chances[2, i] * n)]
        targets[offsets[page] + place] = target
        place += 1
    return page, place, used


@parallel
def sort_rows(offsets, targets):
    """Sort each row of a CSR."""
    for row in prange(len(offsets) - 1):
        targets[offsets[row] : offsets[row + 1]].sort()
