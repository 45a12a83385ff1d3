"""Engines of other packages and of users: a broken one is named, and the others go on."""

import re
import sys
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from rapids_bfs import InputError, TraversalError, as_graph, betweenness, bfs, bfs_batch, compare
from rapids_bfs.cli.info import info_tables
from rapids_bfs.engines import (
    GROUP,
    BatchTraversal,
    Betweenness,
    Engine,
    Summary,
    Traversal,
    register,
    registered,
    registry,
    resolve,
)
from rapids_bfs.engines.cpu import CPU

MODULE = "their_engines"
GOOD = """
from rapids_bfs.engines.cpu import CPU


class Good(CPU):
    name = "good"
"""
ADVICE = ": update, reinstall or remove it$"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package with a module of this text, and with entry points in lines such as ``good = :Good``."""
    monkeypatch.setattr(registry, "_registry", {})

    def installed(*points, text="", package="their-engines"):
        (tmp_path / f"{MODULE}.py").write_text(GOOD + text)
        metadata = tmp_path / f"{package.replace('-', '_')}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [point.replace("= :", f"= {MODULE}:") for point in points]
        (metadata / "entry_points.txt").write_text("\n".join(["[rapids_bfs.engines]", *lines, ""]))
        monkeypatch.syspath_prepend(tmp_path)
        resolve.cache_clear()

    yield installed
    sys.modules.pop(MODULE, None)


def assert_others_go_on():
    """Each of them, by whatever looks at all."""
    assert bfs("karate", 0, engine="scipy").depth == bfs("karate", 0).depth == 3
    found = compare("karate", num_sources=1)
    assert found["scipy"].valid
    console = Console(record=True, width=400)
    console.print(info_tables())
    return {runs.engine: runs.unavailable for runs in found.engines}, console.export_text()


FAULTS = {  # the entry point, what else the module says, and the fault
    "module": (
        "bad = their_missing:Bad",
        "",
        r"which cannot be loaded \(ModuleNotFoundError: No module named 'their_m",
    ),
    "attribute": ("bad = :Bad", "", r"which cannot be loaded \(AttributeError: module 'their_engines' has no attri"),
    "syntax": ("bad = :Bad", "def", r"which cannot be loaded \(SyntaxError: "),
    "value": ("bad = two words:", "", r"which cannot be loaded \((AttributeError|ValueError): "),
    "raises": ("bad = :Bad", "raise RuntimeError('one\\n\\ntwo')", r"which cannot be loaded \(RuntimeError: one two\)"),
    "exits": ("bad = :Bad", "import sys\nsys.exit('no licence')", r"which cannot be loaded \(SystemExit: no licence\)"),
    "panics": (  # as extensions written in Rust do
        "bad = :Bad",
        "class Panic(BaseException): pass\nraise Panic('unwrap')",
        r"which cannot be loaded \(Panic: unwrap\)",
    ),
    "says nothing": ("bad = :Bad", "raise KeyError", r"which cannot be loaded \(KeyError\)"),
    "abstract": (
        "bad = :Bad",
        "from rapids_bfs.engines import Engine\nclass Bad(Engine): name, algorithms = 'bad', ('one',)",
        r"which cannot be loaded \(TypeError: Can't instantiate abstract class Bad",
    ),
    "no engine": ("bad = :Bad", "Bad = dict", "which is no Engine"),
    "another name": ("bad = :Good", "", "whose own name is 'good'"),
    "nameless": ("bad = :Bad", "class Bad(Good): name = None", "and None cannot be a name: "),
    "no algorithms": (
        "bad = :Bad",
        "class Bad(Good): name, algorithms = 'bad', ()",
        "whose algorithms are not .* but ",
    ),
    "one word": (
        "bad = :Bad",
        "class Bad(Good): name, algorithms = 'bad', 'one'",
        "whose algorithms are not a tuple of names, but 'one'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_engine_is_named_and_the_others_go_on(install, fault):
    point, text, said = FAULTS[fault]
    good = "good = :Good" if fault in ("module", "attribute", "no engine") else ""
    install(point, good, text=text)
    expected = re.compile(r"the package their-engines declares it as .*, " + said + ".*" + ADVICE)
    unavailable, info = assert_others_go_on()
    assert expected.match(unavailable["bad"])
    assert f"bad: {unavailable['bad']}" in info
    if good:
        assert bfs("karate", 0, engine="good:sequential").depth == 3
    for name in ("bad", "bad:fast"):
        with pytest.raises(InputError, match="engine 'bad' cannot run here: the package their-engines") as error:
            bfs("karate", 0, engine=name)
        assert "\n" not in str(error.value)
    assert compare("karate", num_sources=1, engines="bad,cpu")["bad"].unavailable == unavailable["bad"]


@pytest.mark.parametrize(
    ("point", "name", "fault"),
    [
        ("scipy = :Good", "scipy of their-engines", "and another engine has this name"),
        ("cpu = :Good", "cpu of their-engines", "and another engine has this name"),
        ("auto = :Good", "auto of their-engines", "and 'auto' cannot be a name: .*"),
        ("a:b = :Good", "a.b of their-engines", "and 'a:b' cannot be a name: .*"),
        ("a,b = :Good", "a_b of their-engines", "and 'a,b' cannot be a name: .*"),
        ("= :Good", "of their-engines", "and '' cannot be a name: .*"),
    ],
)
def test_a_name_that_it_cannot_have(install, point, name, fault):
    before = type(registered()["scipy"]), type(registered()["cpu"])
    registry._registry.clear()
    install(point)
    assert_others_go_on()
    assert (type(registered()["scipy"]), type(registered()["cpu"])) == before
    with pytest.raises(
        InputError, match=rf"engine '{name}' cannot run here: the package their-engines .*, {fault}{ADVICE}"
    ):
        bfs("karate", 0, engine=name)


def test_two_packages_with_an_engine_of_one_name(install):
    """The first keeps it. A package that was installed twice declares the same thing."""
    install("good = :Good", package="a-first")
    install("good = :Good", "good = :Bad", text="class Bad(Good): pass", package="b-second")
    assert bfs("karate", 0, engine="good").depth == 3
    (other,) = (name for name in registered() if name.startswith("good of "))
    assert other == "good of b-second"
    assert "as their_engines:Bad, and another engine has this name" in registered()[other].unavailable()


class Raising(CPU):
    name = "raising"

    def unavailable(self):
        raise OSError("no such\ndevice")


def test_what_raises_when_it_is_asked_cannot_run(monkeypatch):
    monkeypatch.setitem(registered(), "raising", Raising())
    unavailable, info = assert_others_go_on()
    said = "its method unavailable, of test_entry_points, raised OSError: no such device: update or repair that package"
    assert unavailable["raising"] == said
    assert said in info
    with pytest.raises(InputError, match="engine 'raising' cannot run here: its method unavailable"):
        bfs("karate", 0, engine="raising")


def test_a_reason_may_pass(monkeypatch):
    """Such as that of a signal handler that searches while the engine is first imported: it finds half of a module."""
    monkeypatch.setattr(Raising, "unavailable", lambda self: reason)
    monkeypatch.setitem(registered(), "raising", Raising())
    resolve.cache_clear()
    reason = "cannot import"
    with pytest.raises(InputError, match="cannot import"):
        bfs("karate", 0, engine="raising")
    reason = None
    assert bfs("karate", 0, engine="raising").depth == 3


@pytest.mark.parametrize("reason", [False, "", None])
def test_no_reason_is_none(monkeypatch, reason):
    monkeypatch.setattr(Raising, "unavailable", lambda self: reason)
    monkeypatch.setitem(registered(), "raising", Raising())
    resolve.cache_clear()
    assert bfs("karate", 0, engine="raising").depth == 3


def test_a_reason_is_one_line(monkeypatch):
    monkeypatch.setattr(Raising, "unavailable", lambda self: "no\n\n driver " + 2000 * "x")
    monkeypatch.setitem(registered(), "raising", Raising())
    resolve.cache_clear()
    reason = resolve("raising").unavailable()
    assert reason.startswith("no driver xx")
    assert len(reason) <= 1000


def test_an_interrupt_while_an_engine_is_asked(monkeypatch):
    """It concerns the call and not the engine, which the next call asks again."""

    def ask(self):
        raise KeyboardInterrupt

    monkeypatch.setitem(registered(), "raising", Raising())
    resolve.cache_clear()
    monkeypatch.setattr(Raising, "unavailable", ask)
    with pytest.raises(KeyboardInterrupt):
        bfs("karate", 0, engine="raising")
    monkeypatch.setattr(Raising, "unavailable", lambda self: None)
    assert bfs("karate", 0, engine="raising").depth == 3


@pytest.mark.parametrize("content", [b"[rapids_bfs.engines]\nbad = \xff\n", b"[rapids_bfs.engines]\nbad\n"])
def test_damaged_metadata(install, tmp_path, content):
    install("good = :Good")
    (tmp_path / "their_engines-1.0.dist-info" / "entry_points.txt").write_bytes(content)
    with pytest.raises(InputError, match=r"the entry points of the installed packages cannot be read .*: reinstall"):
        bfs("karate", 0, engine="scipy")
    assert bfs("karate", 0).depth == 3


def test_an_interrupt_goes_through(install, monkeypatch):
    """And the next call loads all."""
    install("good = :Good", text="import builtins\nif hasattr(builtins, 'stops'): raise KeyboardInterrupt")
    monkeypatch.setattr("builtins.stops", True, raising=False)
    with pytest.raises(KeyboardInterrupt):
        registered()
    monkeypatch.undo()
    assert "good" not in registered()


class Theirs(Engine):
    """Answers what it is given."""

    name, algorithms = "theirs", ("queue",)

    def __init__(self, *answers):
        self.answers = answers

    def prepare(self, graph, algorithm):
        class Given(Traversal):
            def search(self, sources, options):
                return None

            def answer(self, found, answers=self.answers):
                return answers

        return Given(graph)

    def prepare_betweenness(self, graph, algorithm):
        class Given(Betweenness):
            def scores(self, *arguments, answers=self.answers):
                return answers[0]

        return Given(graph)


class WithSums(Theirs):
    """Answers with the sums of one source."""

    def prepare_batch(self, graph, algorithm):
        class Batch(BatchTraversal):
            batch_size = 2
            distances = None

            def summary(self, sources, depth_limit):
                return Summary.of(1)

        return Batch(graph)


@pytest.fixture
def own_registry(monkeypatch):
    monkeypatch.setitem(registry._registry, GROUP, dict(registered()))
    yield
    resolve.cache_clear()


@pytest.mark.usefixtures("own_registry")
def test_no_engine_takes_the_name_of_another(monkeypatch):
    before = registered()["scipy"]
    monkeypatch.setattr(Theirs, "name", "scipy")
    with pytest.raises(InputError, match=r"'scipy' exists, rapids_bfs\..*\.SciPy: give .*\.Theirs another name"):
        register(Theirs())
    assert registered()["scipy"] is before


RIGHT = np.array([0, 1, 2], np.int32)


@pytest.mark.usefixtures("own_registry")
def test_a_class_that_is_registered_again_is_used_at_once():
    """As when the cell of a notebook is edited, and runs again."""
    graph = as_graph("path:3")
    for distances in (RIGHT, RIGHT[::-1]):
        register(Theirs(distances, None))
        assert bfs(graph, 0, engine="theirs").distances.tolist() == distances.tolist()


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize(
    ("engine", "ask", "what"),
    [
        (Theirs(RIGHT[:1], None), bfs, r"distances of shape \(1,\) and dtype int32"),
        (Theirs(RIGHT.reshape(1, 3), None), bfs, r"distances of shape \(1, 3\)"),
        (Theirs(RIGHT.astype(float), None), bfs, "distances .* dtype float64"),
        (Theirs(RIGHT.tolist(), None), bfs, "distances of shape None"),
        (Theirs(RIGHT), bfs, "no pair of distances and predecessors"),
        (Theirs(RIGHT, RIGHT[:2]), bfs, r"predecessors of shape \(2,\)"),
        (Theirs(RIGHT, RIGHT > 0), bfs, "predecessors .* dtype bool"),
        (Theirs(RIGHT[:1], None), bfs_batch, r"distances of shape \(1,\)"),
        (WithSums(), partial(bfs_batch, keep="summary"), r"reached of shape \(1,\)"),
        (Theirs(np.zeros(2)), betweenness, r"scores of shape \(2,\)"),
    ],
)
def test_an_answer_of_another_length_or_dtype_is_refused(engine, ask, what):
    register(engine)
    with pytest.raises(TraversalError, match=f"engine 'theirs:queue' returned {what}"):
        ask("path:3", 0 if ask is bfs else [0, 1], engine="theirs")
