"""Simulates CuPy's runtime, the driver and NVML of a host with several GPUs, and records which process holds which
memory. Threads stand for processes on request."""

import ctypes
import sys
import threading
from types import SimpleNamespace

import numpy as np

from rapids_bfs._core.cuda import peer_access
from rapids_bfs.distributed import peer_memory, windows

FIRST_SHIFT = 1 << 44  # from an address to where another process maps it; nothing is there


class CUDARuntimeError(RuntimeError):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class FakeCuda:
    """The memory of GPUs, by address: arrays, and who maps them."""

    CUDARuntimeError = CUDARuntimeError

    def __init__(self, devices=4):
        self.devices = devices
        self.memory = {}  # by address: the array, the device, the process
        self.mapped = {}  # by address there: its address here, the process, the device
        self.enabled = set()  # pairs of a device and one that it may access
        self.broken = set()  # pairs of a device and one that does not get what it writes, or the other way round
        self.failing = {}  # by call and rank: the status and words of its error
        self.on_free_all_blocks = lambda: None  # of CuPy's pool
        self.log = []
        self.mps = set()
        self.unlinked = set()  # pairs of devices that cannot have peer access
        self.others = {}
        self.thread = threading.local()
        self.lock = threading.Lock()

    def install(self, monkeypatch):
        cuda = SimpleNamespace(runtime=self, Device=self.device)
        pool = SimpleNamespace(free_all_blocks=self._free_all_blocks)
        cupy = SimpleNamespace(cuda=cuda, get_default_memory_pool=lambda: pool)
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
        for module in (peer_memory, windows):
            monkeypatch.setattr(module, "process", lambda: self.thread.process)
        monkeypatch.setattr(peer_memory, "PAUSE", 0.005)
        monkeypatch.setattr(windows, "pci_bus_id", self.bus_id)
        monkeypatch.setattr(windows, "uuid", str)
        monkeypatch.setattr(peer_access, "pci_bus_id", self.bus_id)
        monkeypatch.setattr(peer_access, "driver", lambda: SimpleNamespace(devices=("a GPU",) * self.devices))
        monkeypatch.setattr(peer_access, "under_mps", lambda ordinal: ordinal in self.mps)
        monkeypatch.setattr(
            peer_access, "link", lambda *pair: "none" if tuple(sorted(pair)) in self.unlinked else "NVLink"
        )
        monkeypatch.setattr(
            peer_access, "nvml", SimpleNamespace(others=lambda bus_id, ours=(): self.others.get(bus_id, []))
        )
        return self

    @staticmethod
    def bus_id(ordinal):
        return f"0000:{ordinal:02x}:00.0"

    def device(self, ordinal=None):
        return CurrentDevice(self, self.thread.device if ordinal is None else ordinal)

    def be(self, rank, device, process):
        """This thread is that of a rank."""
        self.thread.rank, self.thread.device, self.thread.process = rank, device, process

    def _called(self, name, *arguments):
        with self.lock:
            self.log.append((name, getattr(self.thread, "rank", None), *arguments))
        if error := self.failing.get((name, getattr(self.thread, "rank", None))):
            raise CUDARuntimeError(*error)

    def _free_all_blocks(self):
        self._called("free_all_blocks")
        self.on_free_all_blocks()

    def malloc(self, size):
        self._called("malloc", size)
        array = np.full(size + 512, 0xAA, np.uint8)
        address = -(-array.ctypes.data // 512) * 512
        with self.lock:
            self.memory[address] = array, self.thread.device, self.thread.process
        return address

    memcpyDefault = 4

    def memcpy(self, target, source, size, kind):
        """A copy by this thread's device; nothing arrives if the path to the other is broken."""
        self._called("memcpy")
        (source, origin), (target, destination) = map(self._place, (source, target))
        if (origin, destination) not in self.broken:
            ctypes.memmove(target, source, size)

    def _place(self, address):
        """An address as this process has it, and the device there; None on the host."""
        with self.lock:
            for there, (here, process, _) in self.mapped.items():
                if 0 <= address - there < len(self.memory[here][0]) and process == self.thread.process:
                    return address - there + here, self.memory[here][1]
            for here, (array, device, _) in self.memory.items():
                if 0 <= address - here < len(array):
                    return address, device
        return address, None

    def memset(self, address, value, size):
        self._called("memset")
        ctypes.memset(address, value, size)

    def deviceSynchronize(self):
        self._called("deviceSynchronize")

    def free(self, address):
        self._called("free", address)
        with self.lock:
            if any(here == address for here, _, _ in self.mapped.values()):
                self.log.append(("freed while mapped", address))
            del self.memory[address]

    def ipcGetMemHandle(self, address):
        self._called("ipcGetMemHandle")
        return address.to_bytes(64, "little")

    def ipcOpenMemHandle(self, handle):
        self._called("ipcOpenMemHandle")
        address = int.from_bytes(handle, "little")
        with self.lock:
            _, _, process = self.memory[address]
            assert process != self.thread.process, "a process does not open its own handles"
            there = address + FIRST_SHIFT * (1 + self.thread.rank)
            self.mapped[there] = address, self.thread.process, self.thread.device
        return there

    def ipcCloseMemHandle(self, there):
        with self.lock:
            self.log.append(("ipcCloseMemHandle", there))
            _, _, device = self.mapped.pop(there)
        assert device == self.thread.device

    def deviceEnablePeerAccess(self, peer):
        self._called("deviceEnablePeerAccess", peer)
        pair = self.thread.device, peer
        if pair in self.enabled:
            raise CUDARuntimeError(704, "peer access is already enabled")
        self.enabled.add(pair)


class CurrentDevice:
    def __init__(self, cuda, ordinal):
        self.cuda, self.id = cuda, ordinal

    def __enter__(self):
        self.before = getattr(self.cuda.thread, "device", None)
        self.cuda.thread.device = self.id

    def __exit__(self, *raised):
        self.cuda.thread.device = self.before

    def synchronize(self):
        self.cuda.log.append(("synchronize", self.id))
