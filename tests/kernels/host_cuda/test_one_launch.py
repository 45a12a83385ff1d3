"""Searches of a graph in parts in one launch for each: P grids at the same time, on the host."""

import numpy as np
import pytest
from host_faults import Fault, assert_seen
from parts_on_host import assert_finds, assert_right, host, on_devices, random_searches  # noqa: F401 - a fixture
from oracle import random_graph

from rapids_bfs import TraversalError, as_graph, bfs
from rapids_bfs.engines.parts import search
from rapids_bfs.engines.parts.one_launch import InOneLaunch, Layout, Tuning
from rapids_bfs.generators import generate
from rapids_bfs.parts.partition import Partition
from rapids_bfs.parts.windows import open_windows

ALWAYS, NEVER = 1 << 20, 0  # alpha: always bottom-up, or never


def in_one_launch(alpha=15, beta=24):
    """What makes a search in one launch with these thresholds."""

    def make(there, peers):
        layout = Layout.of(there.part)
        return InOneLaunch(
            there, peers, open_windows(peers, layout.end, "cpu"), layout, Tuning(alpha, beta, threads=64)
        )

    return make


def test_random_graphs():
    random_searches(make=in_one_launch())
