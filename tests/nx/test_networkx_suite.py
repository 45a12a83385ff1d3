"""NetworkX's own tests of these functions, run with the backend, none of them skipped or expected to fail by us."""

import networkx_suite
import pytest

MODULES = [f"networkx.{file}" for file in networkx_suite.FILES]


@pytest.fixture(scope="module")
def record():
    return networkx_suite.run(MODULES)


def test_passes(record):
    assert record["failed"] == [], record["output"]
    assert record["passed"] > 400


def test_every_function_is_dispatched_here(record):
    assert record["dispatched"].keys() == networkx_suite.ours()


def test_no_test_is_held_back_by_us(record):
    plain = networkx_suite.run(MODULES, backend=None)
    assert not plain["dispatched"]
    assert networkx_suite.only_with_us(record, plain) == []
    assert record["passed"] == plain["passed"]
