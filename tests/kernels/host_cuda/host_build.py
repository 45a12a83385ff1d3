"""Compile the kernels of `kernels/cuda` for the host, with sanitizers, into libraries whose functions launch them."""

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from rapids_bfs.kernels import cuda

HERE = Path(__file__).parent
COMPILER = "g++"
FLAGS = ("-std=c++17", "-O0", "-g1", "-fPIC", "-fno-strict-aliasing", "-ffp-contract=off", "-Wno-unknown-pragmas")
FLAGS += ("-ftrivial-auto-var-init=pattern", "-fno-omit-frame-pointer", "-ftls-model=initial-exec")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
SANITIZE += ("--param", "asan-instrumentation-with-call-threshold=0")  # a tenth less to compile
# Set: undefined behaviour is described, and all reports name lines; else it is an illegal instruction.
MESSAGES = "HOST_CUDA_MESSAGES"
if MESSAGES not in os.environ:
    SANITIZE += ("-fsanitize-undefined-trap-on-error",)  # a fifth less to compile

APART = {"direction_optimizing", "bit_parallel"}  # files of which a test may need only some kernels

KIND = r"(?:unsigned )?(?:long long|\w+(?:<\w+>)?)"
SHARED = re.compile(rf"^( *)(extern )?__shared__ (?:__align__\(\d+\) )?({KIND}) (\w[^;\n]*);", re.MULTILINE)
DECLARED = re.compile(r"(\w+)(\[[^\]]*\])?")

Options = tuple[str, ...]
Edits = tuple[tuple[str, str], ...]  # pieces of a text and their replacements


class Shape(ctypes.Structure):
    """`on_host::Shape`."""

    _fields_ = [(field, ctypes.c_uint) for field in ("blocks", "threads", "shared")]
    _fields_ += [("seed", ctypes.c_uint64)]


def sanitizer() -> str | None:
    """The library of AddressSanitizer, which a process must load before all others; None without a compiler."""
    if shutil.which(COMPILER) is None:
        return None
    asked = [COMPILER, "-print-file-name=libasan.so"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return found if Path(found).is_absolute() else None


def on_host(text: str) -> str:
    """The text of a kernel file, its `__shared__` variables turned into references to the running block's memory."""

    def references(match: re.Match) -> str:
        indent, dynamic, kind, names = match.groups()
        if dynamic:
            return f"{indent}{kind}* const {DECLARED.match(names)[1]} = on_host::dynamic_shared();"
        return indent + " ".join(
            f"static const char {name}_key = 0; "
            f"{kind} (&{name}){length} = on_host::shared<{kind}{length}>(&{name}_key);"
            for name, length in DECLARED.findall(names)
        )

    return SHARED.sub(references, text)


def launcher(kernel: str, instance: str) -> str:
    """A C++ function that launches a kernel."""
    return (
        f'extern "C" const char* launch_{kernel}(const on_host::Shape* shape, void** arguments) {{\n'
        f"    return on_host::launch(*shape, ::{instance}, arguments);\n}}\n"
    )


def edited(text: str, edits: Edits) -> str:
    for old, new in edits:
        assert text.count(old) == 1, f"this must occur exactly once in the file: {old}"
        text = text.replace(old, new)
    return text


def function(name: str, kernel: str, *how: Any) -> Any:
    """What launches a kernel of a file, see `library`."""
    code = library(name, kernel if name in APART else None, *how)
    launch = getattr(code, f"launch_{kernel}")
    launch.restype = ctypes.c_char_p
    return launch


@cache
def library(
    name: str, kernel: str | None, vertex_bytes: int, offset_bytes: int, options: Options, edits: Edits
) -> ctypes.CDLL:
    """The library with one kernel of a file or all, compiled for these types from the edited text."""
    kernels = on_host(edited(cuda.source(name), edits))
    instances = cuda.expressions(name, vertex_bytes, offset_bytes)
    wanted = instances if kernel is None else {kernel: instances[kernel]}
    launchers = "".join(launcher(*each) for each in wanted.items())
    flags = f"-I{precompiled()}", *SANITIZE, *options
    binary = compiled(f"{name}-{kernel}", f'#include "cuda.h"\n{kernels}\n{launchers}', *flags)
    runtime()
    return ctypes.CDLL(str(binary))


@cache
def runtime() -> ctypes.CDLL:
    """The fibers, for all libraries of kernels."""
    binary = compiled("on_host", (HERE / "on_host.cpp").read_text(), "-O2")
    return ctypes.CDLL(str(binary), ctypes.RTLD_GLOBAL)


@cache
def precompiled() -> Path:
    """A folder with what the compiler has made of `cuda.h`, which takes it a tenth of a second."""
    made_of = b"\0".join([headers(), *map(str.encode, (*FLAGS, *SANITIZE))])
    kept = folder() / f"headers-{hashlib.sha256(made_of).hexdigest()[:32]}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=folder()) as own:
            made = Path(own, "made")
            made.mkdir()
            run_compiler(*SANITIZE, "-w", "-x", "c++-header", str(HERE / "cuda.h"), "-o", str(made / "cuda.h.gch"))
            with suppress(OSError):  # another process was faster
                made.rename(kept)
    return kept


@cache
def folder() -> Path:
    """The folder of the binaries: HOST_CUDA_BINARIES, which processes may share, else one that goes with this one."""
    if shared := os.environ.get("HOST_CUDA_BINARIES"):
        return Path(shared)
    folder.kept = tempfile.TemporaryDirectory(prefix="host-cuda-")
    return Path(folder.kept.name)


@cache
def headers() -> bytes:
    """What a text may include."""
    return b"".join((HERE / name).read_bytes() for name in ("cuda.h", "on_host.h"))


def compiled(name: str, text: str, *options: str) -> Path:
    """A library of this text, named by a hash of all that it is made of; whoever finds none compiles it."""
    made_of = b"\0".join([headers(), text.encode(), *map(str.encode, (*FLAGS, *options))])
    binary = folder() / f"{name}-{hashlib.sha256(made_of).hexdigest()[:32]}.so"
    if not binary.exists():
        with tempfile.TemporaryDirectory(dir=folder()) as own:
            source, made = Path(own, f"{name}.cpp"), Path(own, "made.so")
            source.write_text(text)
            run_compiler(*options, "-shared", str(source), "-o", str(made))
            made.replace(binary)
    return binary


def run_compiler(*arguments: str) -> None:
    """Without the sanitizer that is loaded into this process."""
    without_sanitizer = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run([COMPILER, *FLAGS, *arguments, f"-I{HERE}"], check=True, env=without_sanitizer)
