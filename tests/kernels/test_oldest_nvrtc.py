"""Every CUDA file compiles with the oldest NVRTC that CuPy takes, not with the newest alone.

Its wheel, nvidia-cuda-nvrtc-cu12, lies beside whichever newer one the other tests load. It changes the locale of those
who call it, so a process of its own does.
"""

import ctypes
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, files
from multiprocessing import get_context

import pytest

from rapids_bfs.kernels import cuda as cuda_kernels

WHEEL = "nvidia-cuda-nvrtc-cu12"
ARCHITECTURE = "--gpu-architecture=compute_75"  # to PTX: the rest takes longer, and the newest does it too


@pytest.fixture(scope="module")
def process() -> Iterator[Executor]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def library() -> str:
    try:
        return next(str(file.locate()) for file in files(WHEEL) or [] if file.name == "libnvrtc.so.12")
    except PackageNotFoundError:
        pytest.skip(f"{WHEEL} is not installed: pip install 'rapids-bfs[test]'")


def version(library: str) -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    ctypes.CDLL(library).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def complaints(library: str, name: str) -> str:
    """What the compiler says of a file; nothing if it compiles."""
    nvrtc, program = ctypes.CDLL(library), ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), cuda_kernels.source(name).encode(), b"file.cu", 0, None, None)
    for instance in cuda_kernels.expressions(name, 4, 4).values():
        nvrtc.nvrtcAddNameExpression(program, instance.encode())
    options = [option.encode() for option in (*cuda_kernels.OPTIONS, ARCHITECTURE)]
    if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0:
        return ""
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, text)
    return text.value.decode() or "it does not compile"


def test_it_is_the_oldest(process: Executor, library: str) -> None:
    assert process.submit(version, library).result() == (12, 0)


@pytest.mark.parametrize("name", cuda_kernels.FILES)
def test_cuda_file_compiles(process: Executor, library: str, name: str) -> None:
    assert process.submit(complaints, library, name).result() == ""
