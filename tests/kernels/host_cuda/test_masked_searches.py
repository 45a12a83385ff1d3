"""Searches within masks that are refused or interrupted, on the host."""

from itertools import product

import numpy as np
import pytest
from search_on_host import assert_stays_within, host, search_of  # noqa: F401 - a fixture
from tunings import TUNINGS

from rapids_bfs.engines import Options
from rapids_bfs.errors import InputError
from rapids_bfs.generators import generate


def test_masked_ends_are_refused():
    """By the kernel, and the next search finds nothing of it."""
    graph = generate("path:70")
    for name in ("top-down", "one block", "deep"):
        search = search_of(graph, TUNINGS[name])
        mask = np.arange(70) != 30
        for sources, options in ([[30], {}], [[3], {"target": 30}]):
            assert search.checks_mask(np.array(sources), Options(**options))
            with pytest.raises(InputError, match="30 is masked"):
                search.run(np.array(sources), Options(**options, vertices=mask))
            assert_stays_within(search, None, sources, options)
            assert_stays_within(search, mask, [3], {})


@pytest.mark.parametrize("place", ["use", "begin", "launch", "finish"])
def test_an_interrupted_search_within_a_mask(place, monkeypatch):
    """Or without one, after one within: the next search finds nothing of it, and launches its own kernel."""
    mask = np.arange(70) != 30

    def interrupted(method):
        def call(*arguments):
            method(*arguments)
            raise KeyboardInterrupt

        return call

    for first, then in product([None, mask], repeat=2):
        search = search_of(generate("path:70"), TUNINGS["bottom-up"])
        assert_stays_within(search, None if first is mask else mask, [0], {})
        with monkeypatch.context() as patch:
            patch.setattr(search.host, place, interrupted(getattr(search.host, place)))
            with pytest.raises(KeyboardInterrupt):
                search.run(np.array([0]), Options(vertices=first))
        assert_stays_within(search, then, [0], {})
