"""What a host and its kernels agree on is written down twice, in Python and in CUDA C++: here it is compared."""

import re
from importlib import import_module

import pytest

from rapids_bfs.kernels import cuda
from rapids_bfs.kernels.deterministic import PHASES

# A file, its structure of parameters, and the modules that say what they agree on: of the first, all is in the file.
SHARED = {
    "direction_optimizing": ("Search", "whole_search"),
    "deterministic": ("Search", "deterministic", "whole_search"),
    "bit_parallel": ("Batch", "batch"),
    "betweenness": ("Batch", "brandes", "batch"),
}


def text_of(name):
    """A file without its comments."""
    return re.sub(r"//.*", "", cuda.source(name))


def fields(name, structure):
    """The pointers of a structure, each with its length, and the names of its numbers."""
    body = re.search(rf"\bstruct {structure} {{(.*?)\n}};", text_of(name), re.DOTALL)[1]
    pointers, numbers = [], []
    for kind, names in re.findall(
        r"^    (?!using|static)([\w<>:, ]+?[\w>*]) (\w+(?:\[\d\])?(?:, \w+)*);", body, re.MULTILINE
    ):
        for each in names.split(", "):
            word, _, length = each.rstrip("]").partition("[")
            if kind.endswith("*"):
                pointers.append((word, int(length or 1)))
            else:
                numbers.append(word)
    return pointers, numbers


def constants(name):
    """The integers that a file defines; those that depend on how it is compiled are left out."""
    found = {}
    for line in re.findall(r"\bconstexpr (?:int|unsigned) ([^;]*);", text_of(name)):
        for word, value in re.findall(r"(\w+) = ([^,]*)", line):
            if re.fullmatch(r"[\w\s()<*/+-]+", value):
                known = {**found, "__builtins__": {}}
                try:
                    found[word] = eval(value.replace("/", "//"), known)
                except (NameError, SyntaxError):
                    continue
    return found


def agreed(module):
    """The integers that a module of `kernels` says."""
    every = vars(import_module(f"rapids_bfs.kernels.{module}"))
    return {name: value for name, value in every.items() if name.isupper() and isinstance(value, int)}


@pytest.mark.parametrize("name", SHARED)
def test_parameters_are_the_same_in_the_same_order(name):
    structure, module = SHARED[name][:2]
    said = import_module(f"rapids_bfs.kernels.{module}")
    pointers, numbers = fields(name, structure)
    assert numbers == [*said.NUMBERS]
    places = iter(said.POINTERS)
    for word, length in pointers:  # an array of several has a name for each in Python
        names = [next(places) for _ in range(length)]
        assert length > 1 or names == [word]
    assert [*places] == []


@pytest.mark.parametrize("name", SHARED)
def test_constants_are_the_same(name):
    here = constants(name)
    first, *others = SHARED[name][1:]
    wanted = agreed(first)
    for module in others:
        wanted |= {word: value for word, value in agreed(module).items() if word in here}
    assert wanted
    assert {word: here.get(word) for word in wanted} == wanted


def test_phases_are_the_same():
    names = re.search(r"enum Phase {(.*?)}", text_of("deterministic"), re.DOTALL)[1]
    assert tuple(each.strip().lower().replace("_", " ") for each in names.split(",")) == PHASES
