"""Every CUDA file compiles with the oldest NVRTC that CuPy takes, not with the newest alone.

Its wheel, nvidia-cuda-nvrtc-cu12, lies beside whichever newer one the other tests load.
"""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from rapids_bfs.kernels import cuda as cuda_kernels

WHEEL = "nvidia-cuda-nvrtc-cu12"
ARCHITECTURE = "--gpu-architecture=sm_75"


@pytest.fixture(scope="module")
def nvrtc() -> ctypes.CDLL:
    try:
        libraries = {file.name: Path(str(file.locate())) for file in files(WHEEL) or []}
    except PackageNotFoundError:
        pytest.skip(f"{WHEEL} is not installed: pip install 'rapids-bfs[test]'")
    library = ctypes.CDLL(str(libraries["libnvrtc.so.12"]))
    version = ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(*map(ctypes.byref, version))
    assert (version[0].value, version[1].value) == (12, 0)
    return library


@pytest.mark.parametrize("name", cuda_kernels.FILES)
def test_cuda_file_compiles(nvrtc: ctypes.CDLL, name: str) -> None:
    with ThreadPoolExecutor(1) as pool:  # NVRTC 12.0 leaves the thread that calls it with the locale of C
        pool.submit(compile_with, nvrtc, name).result()


def compile_with(nvrtc: ctypes.CDLL, name: str) -> None:
    program = ctypes.c_void_p()
    text = cuda_kernels.source(name).encode()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, f"{name}.cu".encode(), 0, None, None) == 0
    try:
        for instance in cuda_kernels.expressions(name, 4, 4).values():
            assert nvrtc.nvrtcAddNameExpression(program, instance.encode()) == 0
        options = [option.encode() for option in (*cuda_kernels.OPTIONS, ARCHITECTURE)]
        code = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        assert code == 0, log(nvrtc, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def log(nvrtc: ctypes.CDLL, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, text)
    return text.value.decode()
