"""NetworkX's own tests of these functions, run with the backend, none of them skipped or expected to fail by us."""

import networkx_suite

MODULES = [f"networkx.{file}" for file in networkx_suite.FILES]


def test_it_passes_with_the_backend():
    """Every function is dispatched here, and no test is held back by us. One test: its runs take long."""
    record = networkx_suite.run(MODULES, only=networkx_suite.FEWER)
    assert record["failed"] == [], record["output"]
    assert record["passed"] > 400
    assert record["dispatched"].keys() == networkx_suite.ours()
    assert networkx_suite.held_back(record) == []
