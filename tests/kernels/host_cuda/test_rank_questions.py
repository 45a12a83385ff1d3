"""What a distributed graph answers besides searches, by the CUDA C++ run on the host."""

import sys
from unittest import mock

import host_device
import numpy as np
import pytest
from host_faults import Fault, assert_seen
from oracle import random_graph

from rapids_bfs import bfs_batch, connected_components
from rapids_bfs._core.csr import host_filter
from rapids_bfs.distributed import batch, components
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.masks import as_bools, bitmap_of
from rapids_bfs.distributed.partitioning import Partitioning
from rapids_bfs.generators import generate

with mock.patch.dict(sys.modules, cupy=np):  # whose arrays are the device's here
    from rapids_bfs._core.csr import device_filter


@pytest.fixture(autouse=True)
def on_device(monkeypatch):
    for module in (batch, components):
        monkeypatch.setattr(module, "on_device", lambda array: True)
        monkeypatch.setattr(module, "launch", host_device.launch)


def random_graphs(count):
    """Directed or not, with isolated vertices, self-loops and parallel edges, over 1 to 5 partitions."""
    for seed in range(count):
        whole = random_graph(np.random.default_rng(seed), most_vertices=60, most_edges=70)
        yield from_graph(whole, Threads(["cpu"] * (1 + seed % 5))), whole


def components_agree(count=10):
    for graph, whole in random_graphs(count):
        np.testing.assert_array_equal(connected_components(graph), connected_components(whole))


def test_components():
    components_agree()
    whole = generate("rmat:11")
    graph = from_graph(whole, Threads(["cpu"] * 3))
    np.testing.assert_array_equal(connected_components(graph), connected_components(whole))


def test_components_of_wide_numbers():
    with mock.patch.object(Partitioning, "dtype", np.dtype(np.int64)):
        components_agree(4)


def batches_agree(count=10):
    """Of every vertex: more than a word has bits."""
    for graph, whole in random_graphs(count):
        np.testing.assert_array_equal(bfs_batch(graph).distances, bfs_batch(whole).distances)
        found, expected = (bfs_batch(each, keep="summary", depth_limit=3) for each in (graph, whole))
        np.testing.assert_array_equal(found.total, expected.total)
        np.testing.assert_array_equal(found.reached, expected.reached)


def test_many_sources():
    batches_agree()
    whole = generate("rmat:11")
    graph = from_graph(whole, Threads(["cpu"] * 3))
    np.testing.assert_array_equal(bfs_batch(graph, range(70)).distances, bfs_batch(whole, range(70)).distances)


def test_many_sources_of_wide_numbers():
    with mock.patch.object(Partitioning, "dtype", np.dtype(np.int64)):
        batches_agree(4)


def masked(whole, seed=0):
    return np.random.default_rng(seed).random(len(whole)) < 0.7


def test_masked_vertices():
    """They are kept out of batches, and out of the rows of components."""
    for graph, whole in random_graphs(10):
        mask = masked(whole)
        np.testing.assert_array_equal(
            connected_components(graph, vertices=mask), connected_components(whole, vertices=mask)
        )
        for keep in ("distances", "summary"):
            found, expected = (bfs_batch(each, vertices=mask, keep=keep) for each in (graph, whole))
            np.testing.assert_array_equal(found.distances, expected.distances)
            np.testing.assert_array_equal(found.total, expected.total)


def test_rows_that_a_mask_keeps(monkeypatch):
    """Of one rank, whose targets are the vertices of all."""
    monkeypatch.setattr(device_filter, "launch", host_device.launch)
    monkeypatch.setattr(device_filter, "require", lambda *_: None)
    for graph, whole in random_graphs(10):
        allowed = as_bools(bitmap_of(graph, masked(whole)), graph.partitioning.size * graph.partitioning.stride)
        for partition in graph.partitions:
            rows = partition.offsets, partition.targets
            given = *rows, None, allowed, partition.base
            found, expected = (each.KeptArcs(*given) for each in (device_filter, host_filter))
            np.testing.assert_array_equal(found.offsets(rows[0]), expected.offsets(rows[0]))
            np.testing.assert_array_equal(found.compacted(rows[1]), expected.compacted(rows[1]))


FAULTS = {
    "distributed_batch": {
        "expand: the first edges of all": Fault(
            "targets[offsets[vertex] + edge - starts[place]]", "targets[offsets[vertex]]", test_many_sources
        ),
        "expand: nothing is sent twice, not even other bits": Fault(
            "word & ~atomicOr(sent + neighbor, word)", "atomicOr(sent + neighbor, word) ? 0 : word", test_many_sources
        ),
        "settle: what was reached is reached again": Fault(
            "words[i] & ~reached[local_id]", "words[i]", test_many_sources
        ),
        "settle: only once": Fault(
            "fresh[local_id] |= fresh_bits;", "fresh[local_id] = fresh_bits;", test_many_sources
        ),
        "note: the wrong row": Fault("distances[bit * own + vertex]", "distances[vertex]", test_many_sources),
    },
    "components": {
        "an arc is skipped": Fault(
            "!symmetric || target < source", "!symmetric || target + 9 < source", test_components
        ),
        "all arcs are taken once": Fault(
            "static_cast<Vertex>(base + row)", "static_cast<Vertex>(row)", test_components
        ),
        "roots are not found": Fault("pointers[vertex] = root;", ";", test_components),
    },
}


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, faults in FAULTS.items() for name in faults])
def test_a_fault_in_the_kernels_is_seen(monkeypatch, file, name):
    assert_seen(monkeypatch, file, FAULTS[file], name)
