"""The arrays of answers that are allocated ahead, without a device: who gets which, and when they are allocated."""

import numpy as np
import pytest

from rapids_bfs._core import memory


@pytest.fixture
def device(monkeypatch):
    """A stand-in that counts allocations; its ``stream`` is CuPy's current one."""

    class Device:
        stream = 0
        allocated = 0
        full = False

        def new_arrays(self, length, *dtypes):
            if self.full:
                raise MemoryError("the device is full")
            self.allocated += 1
            return [np.empty(length, dtype) for dtype in dtypes]

    device = Device()
    monkeypatch.setattr(memory, "new_arrays", device.new_arrays)
    monkeypatch.setattr(memory, "_current_stream", lambda: device.stream)
    return device


def test_arrays_are_allocated_ahead_and_handed_out_once(device):
    arrays = memory.NextArrays(5, np.int32, np.int64)
    first = arrays.take()
    arrays.allocate_ahead()
    assert device.allocated == 2
    second, third = arrays.take(), arrays.take()
    assert device.allocated == 3
    handed_out = [*first, *second, *third]
    assert len({id(array) for array in handed_out}) == 6
    assert [array.dtype for array in second] == [np.int32, np.int64]


def test_arrays_of_another_stream_are_not_used(device):
    arrays = memory.NextArrays(5, np.int32)
    arrays.allocate_ahead()
    device.stream = 7
    arrays.take()
    assert device.allocated == 2


def test_a_full_device_is_no_error_until_arrays_are_needed(device):
    arrays = memory.NextArrays(5, np.int32)
    device.full = True
    arrays.allocate_ahead()
    with pytest.raises(MemoryError, match="full"):
        arrays.take()


@pytest.mark.parametrize(("length", "ahead"), [(memory.AHEAD_BYTES // 4, 1), (memory.AHEAD_BYTES // 4 + 1, 0)])
def test_many_bytes_are_not_kept_ahead(monkeypatch, device, length, ahead):
    monkeypatch.setattr(memory, "new_arrays", lambda *of: device.new_arrays(0))
    memory.NextArrays(length, np.int32).allocate_ahead()
    assert device.allocated == ahead
