"""How many of Numba's threads a kernel gets."""

import numba
import pytest

from rapids_bfs.threads import FEW, pool


@pytest.mark.parametrize(("things", "alone"), [(0, True), (FEW - 1, True), (FEW, False)])
def test_few_things_are_left_to_one_thread(things, alone):
    before = numba.get_num_threads()
    with pool.work_on(things) as threads:
        assert threads == numba.get_num_threads() == (1 if alone else before)
    assert numba.get_num_threads() == before


def test_a_failure_gives_the_threads_back():
    before = numba.get_num_threads()
    with pytest.raises(ZeroDivisionError), pool.work_on(0):
        _ = 1 / 0
    assert numba.get_num_threads() == before
