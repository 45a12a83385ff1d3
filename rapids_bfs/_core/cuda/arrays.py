"""Arrays in the memory of a CUDA device, by CuPy."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import ContextDecorator, suppress
from functools import cache
from typing import Any, Final

import numpy as np

from ...errors import DeviceMemoryError, InputError
from ..arguments import quoted
from ..forks import in_each_child
from .driver import no_device, pip_install, too_old

CPU: Final = "cpu"
CUDA: Final = "cuda"
DEVICES = (CPU, CUDA)
DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
CAPTURE_ERRORS = range(900, 909)  # from cudaErrorStreamCaptureUnsupported on
LESS_MEMORY = "take fewer sources at a time, load the graph with adjacency='pinned', or search with engine='cpu'"


class _ClearErrors(ContextDecorator):
    """A context and decorator that raises `InputError` in place of two errors of CuPy.

    Memory may run out in spite of all checks: other programs allocate too, and the free blocks may be too small. And
    nothing can wait for a stream that is being captured.
    """

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *trace: object) -> None:
        if kind is not None and kind.__name__ == "OutOfMemoryError":
            reason = str(error).rstrip(".")
            raise DeviceMemoryError(f"the device has too little memory ({reason}): {LESS_MEMORY}") from None
        if kind is not None and kind.__name__ == "CUDARuntimeError" and getattr(error, "status", 0) in CAPTURE_ERRORS:
            raise InputError(
                "a stream is being captured into a CUDA graph, for which this would have to wait: call it before"
                " begin_capture or after end_capture"
            ) from None


clear_errors: Final = _ClearErrors()


@cache
def cupy_missing() -> str | None:
    """None, or one line: what CuPy lacks here and how to fix it."""
    if reason := no_device():
        return reason
    if importlib.util.find_spec("cupy") is None:
        return f"CuPy is not installed: {pip_install('cuda')}"
    try:
        import cupy
    except Exception as error:  # importing mismatched versions can raise anything
        return f"CuPy cannot be imported ({error}): {pip_install('cuda')}"
    major = cupy.cuda.runtime.runtimeGetVersion() // 1000
    if reason := too_old(f"CuPy {cupy.__version__}", major):
        return reason
    try:
        cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing").compile()
    except Exception as error:  # NVRTC, its headers or a library that they need is missing
        first_line = str(error).strip().partition("\n")[0]
        return f"CuPy finds no CUDA toolkit ({first_line}): pip install 'cupy-cuda{major}x[ctk]'"
    return None


in_each_child(cupy_missing.cache_clear)


def checked_device(device: Any) -> str:
    """``device`` if it is "cpu" or "cuda". Raises `InputError` if not."""
    if not isinstance(device, str) or device not in DEVICES:
        raise InputError(f"a graph lives on 'cpu' or 'cuda', not on {quoted(device)}")
    return device


def is_cupy_array(array: Any) -> bool:
    """Is it an array of CuPy? To look at its ``__cuda_array_interface__`` takes some microseconds."""
    return isinstance(array, getattr(sys.modules.get("cupy"), "ndarray", ()))


def on_device(array: Any) -> bool:
    """Return True for an array of any library in the memory of a CUDA device.

    Raises `InputError` if it is one that its library does not let others read.
    """
    if isinstance(array, np.ndarray):
        return False
    if is_cupy_array(array):
        return True
    try:
        if hasattr(array, "__cuda_array_interface__"):
            return True
    except RuntimeError as error:  # PyTorch, for a tensor that requires a gradient
        raise InputError(f"this {type(array).__name__} cannot be read ({error})") from None
    if not hasattr(array, "__dlpack_device__"):
        return False
    try:
        kind, _ = array.__dlpack_device__()
    except (BufferError, TypeError, ValueError):  # PyArrow, for a dtype that DLPack does not have
        return False
    return int(kind) in DLPACK_CUDA


def device_of(array: Any) -> str:
    """The kind of device that has the array: "cpu" or "cuda"."""
    return CUDA if on_device(array) else CPU


def require_device() -> None:
    """Raise `InputError` if arrays cannot live on a device here."""
    if reason := cupy_missing():
        raise InputError(f"this needs a CUDA device: {reason}")


@clear_errors
def to_device(array: Any) -> Any:
    """``array`` as a CuPy array: the same memory if it is on the device already, else a copy.

    Raises `InputError` if CuPy cannot run here.
    """
    require_device()
    import cupy

    if is_cupy_array(array) or not on_device(array):
        return cupy.asarray(array)
    if not hasattr(array, "__cuda_array_interface__"):
        return cupy.from_dlpack(array)
    if hasattr(type(array), "__dlpack__"):  # PyTorch's, which makes CuPy's stream wait for the one that writes them
        with suppress(BufferError, RuntimeError, TypeError, ValueError):
            return cupy.from_dlpack(array)
    return cupy.asarray(array)


def to_host(array: Any) -> np.ndarray:
    """``array`` as a NumPy array: itself if it is one, else a copy."""
    host: np.ndarray = to_device(array).get() if on_device(array) else np.asarray(array)
    return host


def moved(array: Any, device: str) -> Any:
    """``array`` in the memory of "cpu" or "cuda": itself if it is there."""
    if on_device(array) == (device == CUDA):
        return array
    return to_device(array) if device == CUDA else to_host(array)


def beside(array: Any, other: Any) -> Any:
    """``array`` as a contiguous array on the device of ``other``, an array of CuPy; the same array if it is one."""
    import cupy

    if on_device(array) and array.device != other.device:
        array.device.synchronize()  # CuPy copies between devices without waiting for kernels that write it
    with other.device:
        return cupy.asarray(array, order="C")


def copied(array: Any, device: str) -> Any:
    """A copy of ``array`` in the memory of "cpu" or "cuda"; on the device it is made by CuPy's current stream."""
    if device == CPU and isinstance(array, np.ndarray):
        return array.copy()
    elsewhere = moved(array, device)
    return array.copy() if elsewhere is array else elsewhere


def aligned(array: Any, alignment: int) -> Any:
    """A CuPy array, or a copy of it if its address is no multiple of ``alignment`` bytes."""
    return array if array.data.ptr % alignment == 0 else array.copy()


def finish() -> None:
    """Wait for all work queued in CuPy's current stream. Raises `InputError` while it is being captured."""
    import cupy

    with clear_errors:
        cupy.cuda.get_current_stream().synchronize()
