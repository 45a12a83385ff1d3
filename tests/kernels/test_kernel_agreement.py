"""What a host and its kernels agree on is declared once, in Python; the compiler holds the CUDA C++ against it."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rapids_bfs.kernels import cuda
from rapids_bfs.kernels.brandes import BATCH

FOLDER = Path(__file__).parent / "host_cuda"
sys.path.append(str(FOLDER))
from host_build import COMPILER, FLAGS, on_host, sanitizer  # noqa: E402

pytestmark = pytest.mark.skipif(sanitizer() is None, reason=f"{COMPILER} is not installed: apt install {COMPILER}")


def complaints(name):
    """What the compiler says of a file and the checks of its parameters."""
    text = f'#include "cuda.h"\n{on_host(cuda.source(name))}'
    command = [COMPILER, *FLAGS, f"-I{FOLDER}", "-fsyntax-only", "-w", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True).stderr


@pytest.mark.parametrize("name", cuda.PARAMETERS)
def test_parameters_are_as_declared(name):
    assert complaints(name) == ""


def swapped(fields, one, other):
    """The fields with two of them in each other's place."""
    names = list(fields)
    i, j = names.index(one), names.index(other)
    names[i], names[j] = names[j], names[i]
    return {name: fields[name] for name in names}


OTHERWISE = {
    "a field less": {"numbers": BATCH.numbers[:-1]},
    "a field more": {"pointers": BATCH.pointers | {"more": "int"}},
    "an unknown name": {"numbers": (*BATCH.numbers[:-1], "omega")},
    "another order of fields of one type": {"pointers": swapped(BATCH.pointers, "sums", "scores")},
    "another order of numbers": {"numbers": BATCH.numbers[::-1]},
    "another type": {"pointers": BATCH.pointers | {"found": "const Vertex"}},
    "another constant": {"constants": BATCH.constants | {"PIECE": 64}},
    "another size": {"sizes": ("sizeof(State) <= 64",)},
}


@pytest.mark.parametrize("how", OTHERWISE)
def test_a_declaration_of_something_else_does_not_compile(how, monkeypatch):
    monkeypatch.setitem(cuda.PARAMETERS, "betweenness", replace(BATCH, **OTHERWISE[how]))
    assert "error:" in complaints("betweenness")
