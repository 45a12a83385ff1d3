"""How many of Numba's threads a kernel gets."""

import numba
import pytest

from rapids_bfs import threads
from rapids_bfs.threads import pool

needs_two = pytest.mark.skipif(numba.config.NUMBA_DEFAULT_NUM_THREADS < 2, reason="this machine has one core")


@needs_two
def test_some_cores_are_spared_once(monkeypatch):
    allowed = numba.get_num_threads()
    monkeypatch.setattr(threads, "SPARE", allowed)
    assert pool.size == allowed - 1
    with pool.work_on() as outer:
        assert outer == numba.get_num_threads() == allowed - 1
        with pool.work_on() as inner, pool.work_on(1) as alone:
            assert (inner, alone) == (allowed - 1, 1)
        assert numba.get_num_threads() == allowed - 1
    assert numba.get_num_threads() == allowed


@needs_two
def test_threads_that_numba_was_told_to_use_are_used(monkeypatch):
    allowed = numba.get_num_threads()
    monkeypatch.setattr(threads, "SPARE", 1)
    numba.set_num_threads(1)
    try:
        with pool.work_on() as given:
            assert given == 1
        assert numba.get_num_threads() == 1
    finally:
        numba.set_num_threads(allowed)
