"""The package as it is imported and installed."""

import ctypes
import doctest
import importlib.util
import itertools
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

import rapids_bfs
from rapids_bfs import engines, kernels

ROOT = Path(__file__).parents[2]
HEAVY = ["cupy", "numba", "cudf", "cugraph", "networkx", "pandas", "pyarrow", "scipy", "polars"]


def python(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_brings_nothing_heavy():
    loaded = python("import sys, rapids_bfs; print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)


def test_bundled_graphs_are_read_without_arrow():
    """Its import takes longer than reading them."""
    assert "pyarrow" not in python("import sys, rapids_bfs; rapids_bfs.load('moby'); print(*sys.modules)").split()


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library does not tell"
)
def test_importing_the_backend_leaves_malloc_as_it_was():
    """What the C library asks the system for and gives back is decided by the largest block that was freed."""
    python(
        """
import ctypes
from rapids_bfs.nx import search
libc = ctypes.CDLL(None)
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks mapped_blocks hblkhd usmblks".split()]
    _fields_ += [("rest", ctypes.c_size_t * 4)]
libc.mallinfo2.restype, libc.malloc.restype = Info, ctypes.c_void_p
before = libc.mallinfo2().mapped_blocks
assert libc.malloc(ctypes.c_size_t(24 << 20))
assert libc.mallinfo2().mapped_blocks == before + 1, "24 MiB were not asked of the system"
"""
    )


def test_a_search_imports_nothing_that_it_does_not_need():
    loaded = python("import sys, rapids_bfs; rapids_bfs.bfs('karate', 1, engine='cpu'); print(*sys.modules)").split()
    assert not ({*HEAVY, "rapids_bfs.engines.gpu.cupy"} - {"numba", "scipy"}) & set(loaded)


def test_names_are_there():
    for name in rapids_bfs.__all__:
        assert getattr(rapids_bfs, name) is not None
    assert set(rapids_bfs.__all__) <= set(dir(rapids_bfs))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rapids_bfs.nothing


def test_kernels_are_inside_the_package_and_know_nothing_of_it():
    loaded = python("import sys, rapids_bfs.kernels.cpu.sequential; print(*sys.modules)").split()
    assert {name for name in loaded if name.startswith("rapids_bfs")} == {
        "rapids_bfs",
        "rapids_bfs.errors",
        "rapids_bfs.kernels",
        "rapids_bfs.kernels.by_numpy",
        "rapids_bfs.kernels.by_numpy.hashing",
        "rapids_bfs.kernels.cpu",
        "rapids_bfs.kernels.cpu.atomics",
        "rapids_bfs.kernels.cpu.bits",
        "rapids_bfs.kernels.cpu.compiled",
        "rapids_bfs.kernels.cpu.disk_cache",
        "rapids_bfs.kernels.cpu.sequential",
        "rapids_bfs.kernels.threads",
    }


def kernels_from(folder, path):
    """The file of the kernels that a program in ``folder`` imports, to which only a site folder is known."""
    program = (
        f"import site; site.addsitedir({str(path)!r}); from rapids_bfs import errors, kernels; print(kernels.__file__)"
    )
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_a_checkout_that_is_not_installed_finds_its_kernels(tmp_path):
    assert kernels_from(ROOT, tmp_path) == ROOT / "kernels" / "__init__.py"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone of the repository, and beside it what `pip install -e` and `pip install` would unpack."""
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install 'rapids-bfs[test]'")
    clone = tmp_path_factory.mktemp("parent") / "rapids_bfs"
    for folder in ("rapids_bfs", "kernels"):
        shutil.copytree(ROOT / folder, clone / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / file, clone)
    program = "from hatchling import build; build.build_editable('../editable'); build.build_wheel('../wheel')"
    subprocess.run([sys.executable, "-c", program], cwd=clone, check=True)
    for built in clone.parent.glob("*/*.whl"):
        shutil.unpack_archive(built, built.parent, "zip")
        built.unlink()
    return clone


@pytest.mark.parametrize("folder", [".", "..", "../wheel/rapids_bfs/data"])
def test_a_clone_that_is_installed_in_place_is_imported_from(folder, clone):
    """Beside a clone of its name, too, which Python takes for a namespace package where it finds no other."""
    assert kernels_from(clone / folder, clone.parent / "editable") == clone / "kernels" / "__init__.py"


def test_what_is_installed(clone):
    def files(folder):
        kept = (path for path in folder.rglob("*.*") if path.is_file() and path.suffix != ".pyc")
        return {path.relative_to(folder).as_posix() for path in kept}

    editable, wheel = (
        {name for name in files(clone.parent / kind) if ".dist-info/" not in name} for kind in ("editable", "wheel")
    )
    assert editable == {"_rapids_bfs.pth"}
    assert wheel == {
        f"{inside}/{name}"
        for inside, folder in (("rapids_bfs", "rapids_bfs"), ("rapids_bfs/kernels", "kernels"))
        for name in files(clone / folder)
    }
    assert kernels_from(clone.anchor, clone.parent / "wheel") == clone.parent / "wheel/rapids_bfs/kernels/__init__.py"


def test_a_walk_over_the_package_finds_each_module_once():
    found = (module.name for module in pkgutil.walk_packages(rapids_bfs.__path__, "rapids_bfs."))
    assert [name for name in itertools.islice(found, 1000) if name.count("rapids_bfs") > 1] == []


def modules_with_examples():
    """Every module of the package, kernels included, that shows a session."""
    names = ["rapids_bfs"]
    for package in (rapids_bfs, kernels):
        folder = [str(Path(package.__file__).parent)]
        names += (found.name for found in pkgutil.walk_packages(folder, f"{package.__name__}."))
    return [name for name in names if ">>> " in Path(importlib.util.find_spec(name).origin).read_text()]


@pytest.mark.parametrize("module", modules_with_examples())
def test_examples_in_docstrings(module):
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0
    assert found.failed == 0


def test_examples_are_found():
    assert {"rapids_bfs", "rapids_bfs.loading", "rapids_bfs.algorithms.bfs", "rapids_bfs.testing"} <= {
        *modules_with_examples()
    }


def test_every_version_is_the_same():
    """That of the package, of what is installed, and of the conda recipe."""
    recipe = re.search(r"^  version: (.+)$", (ROOT / "recipe" / "recipe.yaml").read_text(), re.MULTILINE)[1]
    assert version("rapids-bfs") == rapids_bfs.__version__ == recipe


def test_engines_that_are_loaded_by_name_are_those_that_are_installed():
    points = {point.name: point.value for point in entry_points(group=engines.GROUP)}
    for name, place in engines.PREFERENCE.items():
        assert points[name] == f"rapids_bfs.engines.{place}"
