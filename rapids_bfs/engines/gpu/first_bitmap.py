"""The bitmap of visited vertices that a deterministic search begins with."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int64, c_void_p
from functools import cached_property
from typing import Any

from ..._core.cuda.arrays import on_device
from ...graph import Graph
from .cooperative import WARP
from .launch import address, copy
from .published import Device

FILE, KERNEL = "masks", "bar"
THREADS = 256  # of a block


class FirstBitmap:
    """It has the vertices that a search never reaches: the isolated ones and, with a mask, all that this bars.

    A search leaves the isolated ones in it. Use this while the device is current.
    """

    def __init__(self, graph: Graph, device: Device, isolated: int, visited: int) -> None:
        """The addresses of the bitmap of ``isolated`` vertices, and of this one, which has them now."""
        self.graph, self.device = graph, device
        self.isolated, self.visited = isolated, visited
        self.words = -(-graph.num_vertices // WARP)
        self.masked = False  # may it have vertices that a mask bars? Not every search that was to come may have run
        self.allowed = c_void_p()  # the address of the mask on the device,
        self.mask: Any = None  # and the mask

    def prepare(self, mask: Any) -> None:
        """Prepare it for the next search. To be called before each.

        ``mask`` (bool, n) bars the vertices that it leaves out. If it is on the device, nothing writes it any more.
        """
        if mask is not None:
            self.masked = True
            if not on_device(mask):
                with self.device.active():
                    mask = self.device.upload(mask)
            self.mask = mask
            self.allowed.value = address(self.mask)
            self.bar()
        elif self.masked:
            copy(self.visited, self.isolated, 4 * self.words, self.device.stream_handle)
            self.masked, self.mask = False, None

    @cached_property
    def bar(self) -> Callable[[], None]:
        """Launch the kernel that fills it from the mask."""
        graph, device = self.graph, self.device
        kernel = device.compiled(FILE, KERNEL, graph.targets.dtype, graph.offsets.dtype, THREADS, 1)
        blocks = min(device.resident_blocks, -(-self.words // THREADS))
        arguments = self.allowed, c_int64(graph.num_vertices), c_void_p(self.isolated), c_void_p(self.visited)
        return kernel.launcher(blocks, THREADS, 0, device.stream_handle, *arguments)
