"""The host's side of neighbourhoods on a GPU: a launch for as many centres as the memory takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...graph import Graph
from ...kernels.neighborhoods import NEIGHBORHOODS
from ..base import NeighborhoodSearch, bounds_of
from .cooperative import WARP, LaunchTuning, levels_of_launch, sources_of_launch, too_deep
from .launch import addresses, fill
from .published import Device, require_buffers

FILE = "neighborhoods"
SHARE = 4  # one in so many free bytes is for rows and bitmaps, and one for the arcs of a batch
Parameters: Any = NEIGHBORHOODS.in_memory()


@dataclass(frozen=True, kw_only=True)
class Tuning(LaunchTuning):
    """The size of a launch; no answer depends on it but for the order of vertices at a distance."""

    threads: int = 1024  # of a block
    blocks: int = 2  # of a multiprocessor
    pieces: int = 1 << 24  # vertices that a block's row holds beyond the n of its last piece, at most


DEFAULT = Tuning()


class Neighborhoods(NeighborhoodSearch):
    """`kernels/cuda/neighborhoods` on a device. Rows are allocated for each call, of the size that it may need."""

    def __init__(self, graph: Graph, device: Device, direction: str, tuning: Tuning = DEFAULT) -> None:
        super().__init__(graph, direction)
        self.device = device
        here = graph.to(device.searches_on)
        self.types = here.targets.dtype, here.offsets.dtype
        self.entry_bytes = here.targets.dtype.itemsize + np.dtype(np.int32).itemsize  # of a row
        self.arcs = self._uploaded([here])
        self.edges = self._uploaded([each.to(device.searches_on) for each in self.followed])
        self.tune(tuning)

    def _uploaded(self, graphs: list[Graph]) -> dict[str, Any]:
        arrays = {}
        with self.device.active():
            for prefix, graph in zip(("", "more_"), graphs, strict=False):
                arrays[f"{prefix}offsets"] = self.device.upload(graph.offsets)
                arrays[f"{prefix}targets"] = self.device.upload(graph.targets)
        return arrays

    def tune(self, tuning: Tuning) -> None:
        """Use this tuning from now on."""
        self.tuning = tuning
        self.kernels: dict[str, Any] = {}

    @property
    def most_arcs(self) -> int:
        return self._bytes_to_spend() // (2 * int(self.types[0].itemsize))

    def search(self, centers: np.ndarray, hops: int) -> tuple[np.ndarray, Any, Any]:
        device = self.device
        centers = centers[: sources_of_launch(device, len(self.followed) * self.graph.num_arcs)]
        k, levels = len(centers), levels_of_launch(device, min(hops, self.graph.num_vertices))
        if k == 0:
            return np.zeros(1, np.int64), *self._empty_answer(0)
        with device.working():
            grid, room = self._rows(k)
            needs = {"found": (grid * room, self.types[0]), "levels": (grid * room, np.int32)}
            require_buffers(device, self.graph, needs.values())
            given = {"centers": device.upload(centers.astype(np.int64)), "pieces": device.empty(3 * k, np.int64)}
            rows = device.allocated(needs) | given
            left = self._launch("search", grid, self.edges | rows, k=k, hops=levels, room=room)
            done = min(int(device.host(left["next"])[0]), k)
            pieces = device.host(rows["pieces"]).reshape(k, 3)[:done]
            bounds = bounds_of(pieces[:, 2] - pieces[:, 1])
            vertices, distances = self._empty_answer(int(bounds[-1]))
            answer = {"bounds": device.upload(bounds), "vertices": vertices, "distances": distances}
            self._launch("gather", min(grid, done), rows | answer, k=done, room=room)
            device.synchronize()
            if levels < min(hops, self.graph.num_vertices) and int(distances.max()) == levels:
                raise too_deep(self.graph)
        return bounds, vertices, distances

    def count_arcs(self, bounds: np.ndarray, vertices: Any) -> np.ndarray:
        device, k = self.device, len(bounds) - 1
        if k == 0:
            return np.zeros(1, np.int64)
        with device.working():
            arrays = {"bounds": device.upload(bounds), "vertices": vertices, "arc_counts": device.empty(k, np.int64)}
            self._launch("count_arcs", self._grid(k), self.arcs | arrays, k=k)
            return bounds_of(device.host(arrays["arc_counts"]))

    def write_arcs(self, bounds: np.ndarray, vertices: Any, arc_bounds: np.ndarray) -> tuple[Any, Any]:
        device, k, arcs = self.device, len(bounds) - 1, int(arc_bounds[-1])
        with device.working():
            tails, heads = device.empty(arcs, self.types[0]), device.empty(arcs, self.types[0])
            if arcs:
                arrays = {"bounds": device.upload(bounds), "arc_bounds": device.upload(arc_bounds)}
                arrays |= {"vertices": vertices, "tails": tails, "heads": heads}
                self._launch("write_arcs", self._grid(k), self.arcs | arrays, k=k)
            device.synchronize()
        return tails, heads

    def _empty_answer(self, length: int) -> tuple[Any, Any]:
        with self.device.active():
            return self.device.empty(length, self.types[0]), self.device.empty(length, np.int32)

    def _launch(self, kernel: str, grid: int, arrays: dict[str, Any], **numbers: int) -> dict[str, Any]:
        """Start a kernel with bitmaps and a counter of its own, and return these."""
        device, n = self.device, self.graph.num_vertices
        words = -(-n // WARP)
        own = {"visited": device.empty(grid * words, np.uint32), "next": device.empty(1, np.uint64)}
        for array in own.values():
            fill(array, 0, device.stream_handle)
        parameters = Parameters(**addresses({**arrays, **own}), n=n, words=words, **numbers)
        self.compiled(kernel).launcher(grid, self.tuning.threads, 0, device.stream_handle, parameters)()
        return own

    def compiled(self, kernel: str) -> Any:
        if kernel not in self.kernels:
            self.kernels[kernel] = self.tuning.compiled(self.device, FILE, kernel, *self.types)
        return self.kernels[kernel]

    def _bytes_to_spend(self) -> int:
        return int(self.device.free_bytes()) // SHARE

    def _grid(self, k: int) -> int:
        """How many blocks work on k centres: as many as the device runs at a time and the memory has rows for."""
        each = (self.entry_bytes + 1) * max(self.graph.num_vertices, 1)
        most: int = self.tuning.resident_blocks(self.compiled("search"), self.device)
        most = min(most, k, max(1, self._bytes_to_spend() // each))
        return most if self.tuning.grid is None else min(most, self.tuning.grid)

    def _rows(self, k: int) -> tuple[int, int]:
        """How many blocks search from k centres, and how many vertices the row of each holds."""
        n, grid = self.graph.num_vertices, self._grid(k)
        pieces = min(2 * n * (-(-k // grid) - 1), self.tuning.pieces)
        spare = self._bytes_to_spend() // (grid * self.entry_bytes) - n
        return grid, n + max(0, min(pieces, spare))
