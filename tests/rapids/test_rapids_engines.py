"""The engines of RAPIDS, behind the same contract as ours."""

import cudf
import numpy as np
import pytest
import rmm
from oracle import assert_right, random_graph

from rapids_bfs import InputError, as_graph, bfs, compare
from rapids_bfs._core.memory import PeakDeviceBytes
from rapids_bfs._core.rapids import driver_allocates

ENGINES = ("cugraph", "pylibcugraph", "pylibcugraph:direction-optimizing", "nx-cugraph")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_right_on_random_graphs(engine, device):
    rng = np.random.default_rng(21)
    done = 0
    while done < 25:
        graph = random_graph(rng)
        if graph.num_arcs == 0 or (graph.directed and engine.endswith("direction-optimizing")):
            continue
        done += 1
        limit = [None, 1, 3][rng.integers(3)]
        predecessors = bool(rng.integers(2))
        source = int(rng.integers(graph.num_vertices))
        if device == "cpu":
            assert_right(graph, [source], engine, depth_limit=limit, predecessors=predecessors)
        else:
            result = bfs(graph.to(device), source, engine=engine, depth_limit=limit, predecessors=predecessors)
            expected = bfs(graph, source, engine="scipy", depth_limit=limit)
            assert result.distances.device is not None
            np.testing.assert_array_equal(result.to("cpu").distances, expected.distances)


@pytest.mark.parametrize("engine", ENGINES[:3])
def test_what_cugraph_cannot_do_is_an_input_error(engine):
    graph = as_graph(([0, 1, 2], [1, 2, 0]), directed=False)
    for arguments, reason in (
        ({"source": 0, "depth_limit": 0}, "a depth limit of 0 for none"),
        ({"source": 0, "target": 2}, "target"),
        ({"source": [0, 2]}, "several sources"),
        ({"source": 0, "deterministic": True}, "deterministic"),
        ({"source": 0, "trace": True}, "levels"),
    ):
        with pytest.raises(InputError, match=reason):
            bfs(graph, engine=engine, **arguments)


def test_direction_optimizing_is_for_symmetric_graphs():
    comparison = compare(as_graph(([0, 1], [1, 2])), num_sources=1, engines="pylibcugraph:direction-optimizing,cugraph")
    assert "only on undirected graphs" in comparison["pylibcugraph:direction-optimizing"].unavailable
    assert comparison["cugraph"].valid
    assert comparison.valid


def test_side_by_side():
    comparison = compare("rmat:12", num_sources=4)
    for name in ("cupy", "numba-cuda", *ENGINES, "cpu", "scipy"):
        assert comparison[name].valid, (name, comparison[name].unavailable)
    assert comparison.baseline == "cugraph"


def test_rmm_is_left_as_it_was_after_its_memory_was_measured():
    before = rmm.mr.get_current_device_resource()
    with PeakDeviceBytes() as peak:
        assert driver_allocates() == isinstance(before, rmm.mr.CudaMemoryResource)
        kept = cudf.Series(range(1 << 20), dtype="int32")
        del kept
        kept = cudf.Series(range(1 << 18), dtype="int32")
    assert rmm.mr.get_current_device_resource() is before
    assert peak.bytes >= 4 << 20
    assert kept.iloc[-1] == (1 << 18) - 1
    del kept  # by the resource that it came from


def test_depth_limit_0_is_a_reason_in_compare():
    comparison = compare("path:10", num_sources=1, depth_limit=0)
    assert "a depth limit of 0 for none" in comparison["cugraph"].unavailable
    assert comparison["cupy"].valid
