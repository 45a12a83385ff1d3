"""Searches in the midst of others on the same thread, as signal handlers and finalizers make them."""

from collections.abc import Callable

import numpy as np
from interrupts import at_line

from rapids_bfs import InputError


def assert_safe_in_the_midst(
    search: Callable[[int], np.ndarray], other: Callable[[], np.ndarray], most: int = 80
) -> None:
    """Assert that a search from vertex 1 is right with others at any of its lines, of which at ``most`` so many are
    tried: one of the same graph from vertex 2, that is right or refused, and one of another graph, which is right."""
    expected, right, of_other = search(1), search(2), other()
    assert not np.array_equal(expected, right)
    refusals = set()

    def within() -> None:
        assert np.array_equal(other(), of_other)
        try:
            assert np.array_equal(search(2), right)
        except InputError as error:
            refusals.add(str(error).partition(":")[0])

    lines = at_line(0, lambda: search(1))
    for line in range(1, lines + 1, -(-lines // most)):
        found = []
        at_line(line, lambda found=found: found.append(search(1)), within)
        assert np.array_equal(found[0], expected), line
    assert refusals == {"this thread is searching the graph already"}
