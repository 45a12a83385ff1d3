"""PyTorch's tensors and PyTorch Geometric's `Data` in host memory; those of a device are in `tests/gpu`."""

import pytest
import tensors

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("check", [tensors.check_edge_indexes, tensors.check_refused, tensors.check_masks])
def test_tensors(check):
    check(torch, "cpu")


def test_data():
    tensors.check_data(torch, pytest.importorskip("torch_geometric.data"), "cpu")
