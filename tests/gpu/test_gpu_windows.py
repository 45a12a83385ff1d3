"""Windows of memory that kernels of several ranks use at the same time: on one GPU, and on several (marked `gpus`)."""

import pytest

from rapids_bfs._core.cuda.driver import NO_LINK, driver, link
from rapids_bfs.distributed.launchers import Threads

pytest.importorskip("cupy", reason="CuPy is not installed: pip install 'rapids-bfs[cuda13]'")
window_checks = pytest.importorskip("window_checks")

ONE = [[0], [0, 0], [0, 0, 0]]
COUNT = len(driver().devices)
LINKED = COUNT > 1 and all(link(0, other) != NO_LINK for other in range(1, COUNT))
ORDERS = [0, 1], [1, 0], [0, 1, 0], [3, 1, 0, 2]
SEVERAL = [pytest.param(each, marks=pytest.mark.gpus) for each in ORDERS if LINKED and max(each) < COUNT]


@pytest.fixture(params=[*ONE, *SEVERAL], ids=str)
def launcher(request):
    return Threads([f"cuda:{each}" for each in request.param])


def test_what_is_written_arrives(launcher):
    windows = launcher.map(window_checks.opened)
    assert not [each for each in windows if isinstance(each, str)]
    assert all(launcher.collect(window_checks.zeros, each=[windows]))
    for turn in range(3):
        assert launcher.collect(window_checks.written, turn, each=[windows]) == [[]] * launcher.size
    again = launcher.map(window_checks.opened)
    assert all(launcher.collect(window_checks.zeros, each=[again]))
    assert launcher.collect(window_checks.written, 3, each=[windows]) == [[]] * launcher.size


def test_kernels_wait_for_each_other(launcher):
    windows = launcher.map(window_checks.opened)
    assert [rounds for rounds, _ in launcher.collect(window_checks.waited, 100, each=[windows])] == [
        100
    ] * launcher.size


@pytest.mark.parametrize("order", [1, -1])
def test_they_are_closed_in_any_order(launcher, order):
    windows = launcher.map(window_checks.opened)
    assert launcher.collect(window_checks.written, 5, each=[windows]) == [[]] * launcher.size
    ranks = list(range(launcher.size))[::order]
    for count, rank in enumerate(ranks, start=1):
        launcher.collect(window_checks.close, rank, each=[windows])
        assert all(launcher.collect(window_checks.others_read, ranks[:count], 5, each=[windows]))
