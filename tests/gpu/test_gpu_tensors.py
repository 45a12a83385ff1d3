"""PyTorch's tensors and PyTorch Geometric's `Data` on a device, and those of JAX."""

import numpy as np
import pytest
import tensors

from rapids_bfs import as_graph

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("check", [tensors.check_edge_indexes, tensors.check_refused, tensors.check_masks])
def test_tensors(check, device):
    check(torch, device)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_data(device):
    tensors.check_data(torch, pytest.importorskip("torch_geometric.data"), device)


def test_a_tensor_that_its_stream_still_writes():
    """What is queued on PyTorch's stream before is in the graph."""
    for _ in range(5):
        with torch.cuda.stream(torch.cuda.Stream()):
            noise = torch.randn(4000, 4000, device="cuda")
            for _ in range(20):
                noise = noise @ noise.sign()
            edges = torch.zeros((2, 1 << 20), dtype=torch.int64, device="cuda")
            edges += (noise[0, 0] * 0).nan_to_num().long() + 1
            graphs = [as_graph(given, directed=True, vertices=2) for given in (edges, (edges[0], edges[1]))]
        assert [graph.degrees.tolist() for graph in graphs] == [[0, 1 << 20]] * 2


def test_tensors_of_every_device():
    for ordinal in range(torch.cuda.device_count()):
        graph = as_graph(torch.tensor([tensors.SOURCES, tensors.TARGETS], device=f"cuda:{ordinal}"), directed=True)
        assert int(graph.targets.device.id) == ordinal
        tensors.check_same(graph, "cuda")


def test_arrays_of_jax(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else it takes most of the device's memory
    numpy = pytest.importorskip("jax.numpy")
    edges = numpy.asarray(np.array([tensors.SOURCES, tensors.TARGETS], np.int32))
    graph = as_graph(edges, directed=True)
    tensors.check_same(graph, graph.device)
