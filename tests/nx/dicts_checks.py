"""How dicts are read directly; `test_memory.py` runs this in a process of its own, under a debug allocator."""

import importlib
import platform
import sys
import sysconfig
from collections import OrderedDict

import numpy as np
import pytest

from rapids_bfs.nx import _dicts


class TestRead:
    """Its arrays have cells beyond their end that nobody may write to."""

    GUARD = 8

    def read(self, rows, nodes, n=None, m=None):
        n, m = len(rows) if n is None else n, sum(map(len, rows.values())) if m is None else m
        degrees, targets = np.full(n + self.GUARD, -7), np.full(m + self.GUARD, -7, np.int32)
        index = None if nodes is None else {node: vertex for vertex, node in enumerate(nodes)}
        done = _dicts.read(rows, index, degrees[:n], targets[:m])
        assert (degrees[n:] == -7).all()
        assert (targets[m:] == -7).all()
        return (degrees[:n].tolist(), targets[:m].tolist()) if done else None

    def test_numbers_and_names(self):
        assert self.read({0: {1: 0, 0: 0}, 1: {}}, None) == ([2, 0], [1, 0])
        assert self.read({"a": {"b": 0}, 2: {"a": 0, 2: 0}, "b": {}}, ["a", 2, "b"]) == ([1, 2, 0], [2, 0, 1])
        assert self.read({}, None) == ([], [])

    @pytest.mark.parametrize("named", [False, True])
    @pytest.mark.parametrize("size", [3, 5000])
    def test_more_or_less_than_there_is_room_for(self, named, size):
        rows = {node: dict.fromkeys(range(size)) for node in range(size)[:7]} | {node: {} for node in range(7, size)}
        nodes = range(size) if named else None
        n, m = size, sum(map(len, rows.values()))
        assert self.read(rows, nodes) is not None
        for rooms in ((n, m - 1), (n, m + 1), (n - 1, m), (n + 1, m), (0, 0), (n, 0), (0, m), (n, m // 2)):
            assert self.read(rows, nodes, *rooms) is None

    @pytest.mark.parametrize("odd", [True, 1.0, np.int64(1), (1,), "1", -1, 2, 10**30, -(10**30), object()])
    def test_neighbours_that_are_no_such_node(self, odd):
        assert self.read({0: {}, 1: {odd: 0}}, None) is None
        assert self.read({0: {}, 1: {odd: 0}}, [0, 1]) is None

    @pytest.mark.parametrize("odd", [OrderedDict(), [], (), None, "row", {1}, 5])
    def test_rows_that_are_no_dicts(self, odd):
        assert self.read({0: {}, 1: odd}, None, m=1) is None

    def test_counts_no_reference(self):
        node = " ".join(["a node", "of its own"])
        rows = {node: {node: 0}}
        before = [sys.getrefcount(each) for each in (node, rows, rows[node])]
        for _ in range(100):
            assert self.read(rows, [node]) == ([1], [0])
        assert [sys.getrefcount(each) for each in (node, rows, rows[node])] == before

    @pytest.mark.parametrize("another", ["free-threaded", "PyPy"])
    def test_not_where_there_is_no_such_lock(self, another, monkeypatch):
        with monkeypatch.context() as patch:
            if another == "PyPy":
                patch.setattr(platform, "python_implementation", lambda: "PyPy")
            else:
                patch.setattr(sysconfig, "get_config_var", {"Py_GIL_DISABLED": 1}.get)
            assert not importlib.reload(_dicts).AVAILABLE
        assert importlib.reload(_dicts).AVAILABLE
