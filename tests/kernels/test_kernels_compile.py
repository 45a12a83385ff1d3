"""Every CUDA kernel compiles without a GPU: with 32-bit types for the oldest generation, with all types for 9.0.

With ``--all-architectures`` it does so with all types for every generation. Numba takes 12 s for the one cooperative
kernel, so by default each of its types and each of these generations is there once.
"""

import ctypes
import inspect
import re
import struct
import sys
from importlib import import_module
from itertools import product
from unittest import mock

import pytest

from rapids_bfs.engines.gpu.cooperative import STATIC_BYTES
from rapids_bfs.kernels import cuda as cuda_kernels

CAPABILITIES = [(7, 5), (9, 0), (10, 0), (12, 0)]
BYTES = [(4, 4), (4, 8), (8, 8)]  # of a vertex and of an offset
BY_DEFAULT = [((7, 5), (4, 4)), *product([(9, 0)], BYTES)]
COOPERATIVE_BY_DEFAULT = [((7, 5), (4, 8)), ((9, 0), (4, 4)), ((9, 0), (8, 8))]
PUBLISHED = ("frontier_mask", "two_kernel", "block_queue")
COOPERATIVE = ("direction_optimizing",)  # whose module says what types its kernels take
TWINS = PUBLISHED + COOPERATIVE
WITHOUT_TWIN = {"search_small_rows", "search_masked", "search_masked_small_rows"}
MORE_BYTES = {("csr", (8, 8)): [(8, 4)]}  # of an id and of an offset

ARRAYS_OF_VERTICES = {"targets", "sources", "queue", "predecessors"}
MASKS = {"frontier", "upcoming", "updating", "visited"}
VERTICES = {"n", "target", "begin", "end"}


@pytest.fixture(autouse=True)
def process_locale():
    """NVRTC leaves the thread that calls it with the locale of C."""
    yield
    if sys.platform == "linux":
        ctypes.CDLL(None).uselocale(ctypes.c_void_p(-1))  # LC_GLOBAL_LOCALE


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "capability" in metafunc.fixturenames:
        everything = metafunc.config.getoption("--all-architectures")
        by_default = COOPERATIVE_BY_DEFAULT if "cooperative" in metafunc.function.__name__ else BY_DEFAULT
        chosen = [*product(CAPABILITIES, BYTES)] if everything else by_default
        names = [f"sm_{major}{minor}-{8 * vertex}-{8 * offset}" for (major, minor), (vertex, offset) in chosen]
        metafunc.parametrize(("capability", "sizes"), chosen, ids=names)


def test_every_file_has_its_kernels() -> None:
    assert cuda_kernels.FILES.keys() == cuda_kernels.KERNELS.keys() >= cuda_kernels.PARAMETERS.keys()


@pytest.mark.parametrize("name", cuda_kernels.KERNELS)
def test_cuda_file_compiles(name: str, capability: tuple[int, int], sizes: tuple[int, int]) -> None:
    if name.endswith("texture") and sizes[0] == 8:
        pytest.skip("a texture holds 32-bit vertices")
    core = pytest.importorskip("cuda.core", reason="cuda.core is not installed: pip install 'rapids-bfs[cuda13]'")
    for each in (sizes, *MORE_BYTES.get((name, sizes), [])):
        expressions = cuda_kernels.expressions(name, *each)
        arch = f"sm_{capability[0]}{capability[1]}"
        options = core.ProgramOptions(
            std="c++17",
            arch=arch,
            device_as_default_execution_space=True,
            ofast_compile="max",  # optimizing would take most of the time, for code that nobody runs
        )
        program = core.Program(cuda_kernels.source(name), "c++", options)
        binary = program.compile("cubin", name_expressions=tuple(expressions.values()))
        assert all(binary.symbol_mapping[instance] for instance in expressions.values())
        if name in ("direction_optimizing", "deterministic"):
            assert max(shared_memory(bytes(binary.code))) <= STATIC_BYTES


def shared_memory(cubin: bytes) -> list[int]:
    """Bytes that each kernel of an ELF file declares: the sizes of the sections `.nv.shared.KERNEL`."""
    table, size, count, names = *struct.unpack_from("<Q", cubin, 40), *struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table + size * i) for i in range(count)]
    text = sections[names][4]
    return [section[5] for section in sections if cubin.startswith(b".nv.shared.", text + section[0])]


@pytest.fixture
def numba_cuda():
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed: pip install 'rapids-bfs[cuda13]'")
    cuda = import_module("numba.cuda")
    if cuda.config.ENABLE_CUDASIM:
        pytest.skip("NUMBA_ENABLE_CUDASIM is set: the simulator compiles nothing")
    return cuda


@pytest.mark.parametrize("name", PUBLISHED)
def test_numba_kernels_compile(
    numba_cuda, monkeypatch, name: str, capability: tuple[int, int], sizes: tuple[int, int]
) -> None:
    module = imported_again(name, monkeypatch)
    for kernel in twins(name):
        function = python_function(module, kernel)
        assert "barrier.cluster" not in compile_ptx(numba_cuda, function, signature(function, *sizes), capability)


@pytest.mark.parametrize("name", COOPERATIVE)
def test_cooperative_numba_kernels_compile(
    numba_cuda, monkeypatch, name: str, capability: tuple[int, int], sizes: tuple[int, int]
) -> None:
    module = imported_again(name, monkeypatch)
    for kernel in twins(name):
        ptx = compile_ptx(numba_cuda, python_function(module, kernel), module.signatures(*sizes)[kernel], capability)
        assert ("barrier.cluster" in ptx) == (kernel == "search" and capability >= (9, 0))


def compile_ptx(numba_cuda, function, types, capability: tuple[int, int]) -> str:
    """The PTX, whose arrays are in registers."""
    device = mock.Mock(compute_capability=capability)
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        ptx, _ = numba_cuda.compile_ptx(function, types, cc=capability)
    assert f".target sm_{capability[0]}{capability[1]}" in ptx
    assert ".local" not in ptx, "an array that should be in registers is in memory"
    return ptx


def imported_again(name: str, monkeypatch: pytest.MonkeyPatch):
    """A module of kernels that nothing was compiled from: Numba would take device functions of another capability."""
    for each in [each for each in sys.modules if each.startswith("rapids_bfs.kernels.numba_cuda.")]:
        monkeypatch.delitem(sys.modules, each)
    return import_module(f"rapids_bfs.kernels.numba_cuda.{name}")


def twins(name: str) -> dict[str, str]:
    """The kernels of a file that are there in Numba-CUDA too."""
    return {kernel: instance for kernel, instance in cuda_kernels.KERNELS[name].items() if kernel not in WITHOUT_TWIN}


def python_function(module, kernel: str):
    function = getattr(module, kernel)
    return getattr(function, "py_func", function)


def signature(function, vertex_bytes: int, offset_bytes: int):
    """The Numba types of a published kernel's parameters, which have the same names and types in every file."""
    from numba import types

    vertex, offset = (types.int32 if each == 4 else types.int64 for each in (vertex_bytes, offset_bytes))
    known = {
        "offsets": offset[::1],
        "count": types.int32,
        "level": types.int32,
        "distances": types.int32[::1],
        "announced": types.int32[::1],
        "finished": types.uint32[::1],
        "tail": types.int64[::1],
        "status": types.int64[::1],
        **dict.fromkeys(ARRAYS_OF_VERTICES, vertex[::1]),
        **dict.fromkeys(MASKS, types.boolean[::1]),
        **dict.fromkeys(VERTICES, vertex),
    }
    return tuple(known[parameter] for parameter in inspect.signature(function).parameters)


def test_twins_have_the_same_kernels_and_arguments(numba_cuda) -> None:
    for name in TWINS:
        text = cuda_kernels.source(name)
        module = import_module(f"rapids_bfs.kernels.numba_cuda.{name}")
        for kernel, instance in twins(name).items():
            template = instance.partition("<")[0]
            declaration = re.search(rf"__global__ void [^;{{]*\b{template}\((.*?)\) {{", text, re.DOTALL)[1]
            parameters = [each.split()[-1] for each in re.sub(r"<.*?>", "", declaration).split(",")]
            assert [*inspect.signature(python_function(module, kernel)).parameters] == parameters
