"""Graphs of PyTorch's tensors and PyTorch Geometric's `Data`, on the host or a device."""

import numpy as np
import pytest
from strategies import edges_of

from rapids_bfs import InputError, as_graph, bfs
from rapids_bfs._core.cuda.arrays import on_device, to_host

SOURCES, TARGETS = [0, 1, 2, 2, 4], [1, 2, 0, 3, 4]
PAIRS = sorted(zip(SOURCES, TARGETS, strict=True))


def check_same(graph, device, vertices=5):
    assert graph.device == device
    assert graph.num_vertices == vertices
    assert sorted(edges_of(graph.to("cpu"))) == PAIRS


def check_edge_indexes(torch, device):
    """Of every integer type, contiguous or not, views and whole; they are read, not changed."""
    for dtype in (torch.int32, torch.int64, torch.int16, torch.uint8):
        edges = torch.tensor([SOURCES, TARGETS], dtype=dtype, device=device)
        wide = torch.zeros((5, 10), dtype=dtype, device=device)
        wide[1:3, ::2] = edges
        for each in (edges, edges.T.contiguous().T, wide[1:3, ::2]):
            before = each.clone()
            check_same(as_graph(each, directed=True), device)
            check_same(as_graph((each[0], each[1]), directed=True), device)
            assert torch.equal(before, each)
    found = bfs(as_graph(edges, directed=True), 0)
    assert on_device(found.distances) == (device == "cuda")
    assert to_host(found.distances).tolist() == [0, 1, 2, 3, -1]
    assert as_graph(torch.zeros((2, 0), dtype=torch.int64, device=device), vertices=3).num_vertices == 3
    floats = torch.tensor([SOURCES, TARGETS], dtype=torch.float64, device=device)
    check_same(as_graph(floats, directed=True), device)


def check_refused(torch, device):
    edges = torch.tensor([SOURCES, TARGETS], device=device)
    graph = as_graph(edges, directed=True)
    graded = edges.float().requires_grad_()
    for given, message in (
        (edges.T, r"an edge_index has shape \(2, m\), not \(5, 2\): transpose it by \.T"),
        (edges[0], r"not \(5,\)"),
        (edges[None], r"not \(1, 2, 5\)"),
        (-edges, "negative"),
        (edges + 0.5, "fractional"),
        (graded, "requires? grad"),
        (edges.to_sparse(), "Sparse|sparse|read"),
    ):
        with pytest.raises(InputError, match=message):
            as_graph(given, directed=True)
    for graded in (False, True):
        with pytest.raises(InputError, match=r"float32|grad|mask of arcs"):
            graph.filter(edges=torch.ones(graph.num_arcs, device=device, requires_grad=graded))


def check_masks(torch, device):
    """A mask may be a tensor, wherever the graph is."""
    for home in {"cpu", device}:
        graph = as_graph((np.array(SOURCES), np.array(TARGETS)), directed=True).to(home)
        mask = torch.tensor([True, False, True, True, True], device=device)
        assert sorted(edges_of(graph.filter(edges=mask).to("cpu"))) == [(0, 1), (2, 0), (2, 3), (4, 4)]
        found = bfs(graph, 0, vertices=mask)
        assert to_host(found.distances).tolist() == [0, -1, -1, -1, -1]


def check_data(torch, geometric, device):
    """`Data` has the vertices that it says, isolated ones too."""
    edges = torch.tensor([SOURCES, TARGETS], device=device)
    check_same(as_graph(geometric.Data(edge_index=edges, num_nodes=7), directed=True), device, vertices=7)
    features = torch.zeros((6, 2), device=device, requires_grad=True)
    check_same(as_graph(geometric.Data(x=features, edge_index=edges), directed=True), device, vertices=6)
    both = geometric.Data(edge_index=torch.cat([edges, edges.flip(0)], 1), num_nodes=5)
    assert not as_graph(both).directed
    several = geometric.HeteroData()
    several["user"].num_nodes, several["film"].num_nodes = 5, 5
    several["user", "rates", "film"].edge_index = edges
    with pytest.raises(InputError, match="edges of 1 kind"):
        as_graph(several)
    with pytest.raises(InputError, match="no edge_index"):
        as_graph(geometric.Data(num_nodes=3))
    with pytest.raises(InputError, match="past the last of 3"):
        as_graph(geometric.Data(edge_index=edges, num_nodes=3))
