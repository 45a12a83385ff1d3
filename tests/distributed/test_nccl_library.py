"""How NCCL's own functions are called, with a library that stands for it: joining, errors, freeing."""

import gc
import sys
import threading
from types import SimpleNamespace

import pytest

from rapids_bfs import InputError
from rapids_bfs.distributed import nccl_library, peer_memory
from rapids_bfs.distributed.communicators import ThreadCommunicator
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.nccl_library import NcclError


class FakeLibrary:
    """NCCL's functions, as ctypes calls them: what each is given, and the states that they then have."""

    def __init__(self, states=()):
        self.calls, self.states = [], list(states)

    def __getattr__(self, name):
        def call(*given):
            self.calls.append(name)
            if name == "ncclCommInitRankConfig":
                pointer, size, identifier, rank, config = given
                pointer._obj.value = 1000 + rank
                config = config._obj
                self.config = config.size, config.magic, config.version, config.blocking
                self.joined = size, bytes(identifier), rank
                return 7
            if name == "ncclCommGetAsyncError":
                given[1]._obj.value = self.states.pop(0)
            if name == "ncclGetErrorString":
                return b"remote error"
            return 0

        call.argtypes = call.restype = None
        setattr(self, name, call)
        return call


def all_is_freed(timeout=300.0):
    """Is all that has no references freed, within so many seconds?"""
    done = threading.Event()
    peer_memory.freeing().put(lambda: done.set() or True)
    return done.wait(timeout)


def test_a_rank_joins_without_waiting():
    functions = FakeLibrary(states=[7, 0])
    handle = nccl_library.Library(functions).join(3, bytes(range(128)), 2)
    assert functions.joined == (3, bytes(range(128)), 2)
    assert functions.config == (24, 0xCAFEBEEF, 21400, 0)
    assert [handle.in_progress(), handle.in_progress()] == [True, False]


def test_errors_are_raised():
    handle = nccl_library.Library(FakeLibrary(states=[6])).join(3, bytes(128), 2)
    with pytest.raises(NcclError, match=r"^NCCL: remote error$"):
        handle.in_progress()


def test_a_handle_is_freed_once():
    functions = FakeLibrary()
    library = nccl_library.Library(functions)
    first, second = library.join(2, bytes(128), 0), library.join(2, bytes(128), 1)
    first.abort()
    first.abort()
    del first, second
    gc.collect()
    all_is_freed()
    assert functions.calls.count("ncclCommAbort") == 2


def test_a_handle_is_freed_while_no_call_runs():
    """Or it would wait for another rank's kernel, which waits for a kernel of this thread."""
    functions = FakeLibrary()
    handle = nccl_library.Library(functions).join(2, bytes(128), 0)
    with peer_memory.at_work().working():
        del handle
        gc.collect()
        assert not all_is_freed(0.5)
        assert "ncclCommAbort" not in functions.calls
    assert all_is_freed()
    assert functions.calls.count("ncclCommAbort") == 1


@pytest.mark.parametrize(
    ("platform", "says"), [("linux", "pip install nvidia-nccl-cu13"), ("win32", "NCCL is not available on Windows")]
)
def test_without_nccl(monkeypatch, platform, says):
    cuda = SimpleNamespace(nccl=SimpleNamespace(available=False))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.setattr(nccl_library.sys, "platform", platform)
    with pytest.raises(InputError, match=says):
        nccl_library.library()
    group = Threads(["cuda:0", "cuda:1"])._group()
    assert [type(each) for each in group] == [ThreadCommunicator] * 2
