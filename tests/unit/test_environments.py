"""The conda environments and the recipe ask for what pyproject.toml asks for, in the same versions."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ENVIRONMENTS = {
    "environment.yml": ("rapids-cu13", "notebooks", "test"),
    "notebooks/environment-cpu.yml": ("notebooks",),
}
ONLY_CONDA = {"cuda-version", "pip"}
KINDS = ("run", "run_constraints")  # of requirements in the recipe


def split(requirement):
    """Name and bounds: "cupy-cuda13x[ctk]>=14,!=14.1" is "cupy" and {">=14", "!=14.1"}; =1.2 of conda is ==1.2.*."""
    name, bounds = re.fullmatch(r"([\w-]+)(?:\[\w+\])?([^;]*)", requirement.partition(";")[0].strip()).groups()
    name = re.sub(r"-cu(da)?1[23]x?$", "", name)
    name = "nccl" if name == "nvidia-nccl" else name  # as conda calls it
    return name, {re.sub(r"^=([\d.]+)$", r"==\1.*", bound.strip()) for bound in bounds.split(",") if bound.strip()}


def requirements(extra):
    """Those of an extra and of the extras that it names."""
    for requirement in PROJECT["optional-dependencies"][extra]:
        if named := re.fullmatch(r"rapids-bfs\[(\w+)\]", requirement):
            yield from requirements(named[1])
        else:
            yield requirement


def asked_by_project(extras):
    """Every bound on every package, over the dependencies and these extras."""
    found = {"python": {PROJECT["requires-python"]}}
    for requirement in PROJECT["dependencies"] + [each for extra in extras for each in requirements(extra)]:
        name, bounds = split(requirement)
        found.setdefault(name, set()).update(bounds)
    return found


def asked_by_conda(file):
    listed = re.findall(r"^  - ([^:\n]+)$", (ROOT / file).read_text().partition("dependencies:")[2], re.MULTILINE)
    return dict(map(split, listed))


@pytest.mark.parametrize("file", ENVIRONMENTS)
def test_pins_are_those_of_the_project(file):
    wanted, asked = asked_by_project(ENVIRONMENTS[file]), asked_by_conda(file)
    assert {name: asked[name] for name in asked.keys() - ONLY_CONDA} == {
        name: wanted[name] for name in asked.keys() - ONLY_CONDA
    }


@pytest.mark.parametrize("file", ENVIRONMENTS)
def test_nothing_is_missing(file):
    extras = [extra for extra in ENVIRONMENTS[file] if extra != "test"]
    assert asked_by_project(extras).keys() <= asked_by_conda(file).keys()


def test_the_tests_ask_for_the_peers():
    extras = PROJECT["optional-dependencies"]
    assert {f"{peer}; sys_platform == 'linux'" for peer in extras["peers"]} <= {*extras["test"]}


@pytest.mark.parametrize("file", ENVIRONMENTS)
def test_the_package_comes_from_the_checkout(file):
    folder = re.search(r"--editable (\S+)", (ROOT / file).read_text())[1]
    assert ((ROOT / file).parent / folder).resolve() == ROOT


def test_the_conda_recipe_says_what_the_project_says():
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    asked = {kind: re.findall(rf"^  {kind}:\n((?:    - .+\n)+)", recipe, re.MULTILINE)[0] for kind in KINDS}
    run, constraints = (dict(map(split, re.findall(r"- (.+)", asked[kind]))) for kind in KINDS)
    assert run == asked_by_project([])
    assert constraints == {name: asked_by_project(["cuda13"])[name] for name in ("cupy", "numba-cuda")}
    assert re.search(r"^  license: (.+)$", recipe, re.MULTILINE)[1] == PROJECT["license"]
