"""Our CUDA C++, compiled by CuPy."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...kernels import cuda as kernels


@cache
def module(
    file: str, vertex_bytes: int, offset_bytes: int, *options: str, kernel: str | None = None
) -> tuple[Any, dict[str, str]]:
    """A file compiled with ``options``, and the names in it of its kernels, or of one of them; CuPy keeps what it
    compiled on disk."""
    import cupy

    names = kernels.expressions(file, vertex_bytes, offset_bytes)
    names = names if kernel is None else {kernel: names[kernel]}
    code = kernels.source(file)
    return cupy.RawModule(code=code, options=kernels.OPTIONS + options, name_expressions=[*names.values()]), names
