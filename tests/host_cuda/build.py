"""Compile the kernels of `kernels/cuda` for the host, with sanitizers, into libraries whose functions launch them."""

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from rapids_bfs.kernels import cuda

HERE = Path(__file__).parent
COMPILER = "g++"
FLAGS = ("-std=c++17", "-O1", "-g1", "-fPIC", "-fno-strict-aliasing", "-Wno-unknown-pragmas", f"-I{HERE}")
FLAGS += ("-ftrivial-auto-var-init=pattern", "-ffp-contract=off")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")

KIND = r"(?:unsigned )?(?:long long|\w+(?:<\w+>)?)"
SHARED = re.compile(r"^( *)(extern )?__shared__ (?:__align__\(\d+\) )?(KIND) (\w[^;\n]*);".replace("KIND", KIND), re.MULTILINE)
DECLARED = re.compile(r"(\w+)(\[[^\]]*\])?")


class Shape(ctypes.Structure):
    """`on_host::Shape`."""

    _fields_ = [(name, ctypes.c_uint) for name in ("blocks", "threads", "shared", "cluster")] + [("seed", ctypes.c_uint64)]


def missing() -> str | None:
    """None, or one line: what lacks to compile the kernels."""
    if shutil.which(COMPILER) is None:
        return f"{COMPILER} is not installed: apt install g++"
    return None if Path(sanitizer()).is_absolute() else f"{COMPILER} has no AddressSanitizer: apt install g++"


def sanitizer() -> str:
    """The library of AddressSanitizer, which a process must load before all others."""
    asked = [COMPILER, "-print-file-name=libasan.so"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def on_host(text: str) -> str:
    """The text of a kernel file, its shared variables made references to memory that each block has for itself."""

    def references(match: re.Match) -> str:
        indent, dynamic, kind, names = match.groups()
        if dynamic:
            return f"{indent}{kind}* const {DECLARED.match(names)[1]} = on_host::dynamic_shared();"
        return indent + " ".join(
            f"static const char {name}_key = 0; {kind} (&{name}){length} = on_host::shared<{kind}{length}>(&{name}_key);"
            for name, length in DECLARED.findall(names)
        )

    return SHARED.sub(references, text)


def launchers(name: str, vertex_bytes: int, offset_bytes: int) -> str:
    """C++ functions that launch the kernels of a file."""
    return "\n".join(
        f'extern "C" const char* launch_{kernel}(const on_host::Shape* shape, void** arguments) {{\n'
        f"    return on_host::launch(*shape, ::{instance}, arguments);\n}}"
        for kernel, instance in cuda.expressions(name, vertex_bytes, offset_bytes).items()
    )


@cache
def folder() -> Path:
    """Where this process keeps what it compiled."""
    kept = tempfile.TemporaryDirectory(prefix="host-cuda-")
    folder.keeps = kept
    return Path(kept.name)


@cache
def library(name: str, vertex_bytes: int, offset_bytes: int, *options: str) -> ctypes.CDLL:
    """The kernels of a file for these types."""
    stem = "-".join([name, str(vertex_bytes), str(offset_bytes), *(re.sub(r"\W", "", each) for each in options)])
    text, binary = folder() / f"{stem}.cpp", folder() / f"{stem}.so"
    text.write_text(f'#include "cuda.h"\n{on_host(cuda.source(name))}\n{launchers(name, vertex_bytes, offset_bytes)}\n')
    compile_to(binary, text, HERE / "on_host.cpp", *options)
    return ctypes.CDLL(str(binary))


def compile_to(binary: Path, *arguments: str | Path) -> None:
    here = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # not into the compiler
    subprocess.run([COMPILER, *FLAGS, *SANITIZE, *map(str, arguments), "-shared", "-o", str(binary)], check=True, env=here)
