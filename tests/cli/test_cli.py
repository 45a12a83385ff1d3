"""The command, as a stranger types it."""

import contextlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pyarrow.parquet
import pytest

from rapids_bfs.cli import run_command
from rapids_bfs.cli.info import info_tables
from rapids_bfs.engines.cpu import CPU
from rapids_bfs.errors import DeviceError, InputError, TraversalError
from rapids_bfs.report.console import console, show
from rapids_bfs.warmup import PARTS

COMMANDS = ["compare", "run", "trace", "validate", "convert", "warmup", "info"]


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def rapids_bfs(monkeypatch, capsys):
    """Run the command in this process."""

    def run(*arguments, cwd=None):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["rapids-bfs", *map(str, arguments)])
            if cwd:
                patch.chdir(cwd)
            code = run_command(sys.argv[1:])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(rapids_bfs):
    """The message of a command that ends with exit code 2 and one line."""

    def run(*arguments, cwd=None):
        done = rapids_bfs(*arguments, cwd=cwd)
        assert done.returncode == 2, done
        assert done.stdout == ""
        assert done.stderr.startswith("error: ")
        assert len(done.stderr.splitlines()) == 1
        return done.stderr

    return run


@pytest.mark.parametrize(
    ("error", "code", "said"), [(TraversalError, 1, "wrong answer"), (DeviceError, 71, "the device failed")]
)
def test_a_device_that_fails_gives_no_wrong_answer(rapids_bfs, monkeypatch, error, code, said):
    def fail(*arguments):
        raise error("cuLaunchKernel: out of luck (7)")

    monkeypatch.setattr(CPU, "prepare", fail)
    done = rapids_bfs("run", "karate", "--source", 0, "--engine", "cpu")
    assert done.returncode == code
    assert done.stderr == f"{said}: cuLaunchKernel: out of luck (7)\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MemoryError(), 2, "error: out of memory"),
        (MemoryError("1 TiB"), 2, "error: 1 TiB"),
        (InputError(), 2, "error: InputError"),
        (TraversalError(), 1, "wrong answer: TraversalError"),
        (OSError(28, "No space left on device", "cache.nbi"), 2, "error: cache.nbi: No space left on device"),
        (OSError(28, "No space left on device"), 2, "error: No space left on device"),
        (OSError(), 2, "error: OSError"),
        (RuntimeError("can't start new thread"), 2, "error: can't start new thread: raise the limit on processes"),
    ],
    ids=repr,
)
def test_what_goes_wrong_is_said_in_one_line(rapids_bfs, monkeypatch, error, code, said):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(CPU, "prepare", fail)
    done = rapids_bfs("run", "karate", "--source", 0, "--engine", "cpu")
    assert done.returncode == code
    assert done.stderr.startswith(said)
    assert len(done.stderr.splitlines()) == 1


def test_a_working_directory_that_was_removed(refused, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    with contextlib.chdir(gone):
        gone.rmdir()
        said = refused("run", "karate", "--source", 0, "--out", "x.csv")
    assert said == "error: the working directory: No such file or directory\n"


def test_compare(rapids_bfs, tmp_path):
    done = rapids_bfs("compare", "karate", "--num-sources", 3, "--json", "k.json", "--csv", "k.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "karate: 34 vertices, 78 undirected edges, 3 sources" in done.stdout
    for engine in ("cpu", "scipy", "networkx"):
        assert f"\n {engine} " in done.stdout
    found = json.loads((tmp_path / "k.json").read_text())
    assert found["command"].endswith("compare karate --num-sources 3 --json k.json --csv k.csv")
    assert {engine["engine"] for engine in found["engines"] if engine["valid"]} >= {"cpu", "scipy", "networkx"}
    assert len((tmp_path / "k.csv").read_text().splitlines()) >= 1 + 3 * 3


def test_compare_writes_a_page(rapids_bfs, refused, tmp_path):
    done = rapids_bfs("compare", "karate", "--num-sources", 2, "--engines", "cpu", "--html", "k.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "k.html").read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "rapids-bfs compare karate --num-sources 2 --engines cpu --html k.html" in text
    assert "exists" in refused("compare", "rmat:99", "--html", tmp_path / "k.html")


def test_compare_from_named_sources(rapids_bfs):
    done = rapids_bfs("compare", "karate", "--engines", "cpu,cpu:sequential", "--source", 0, "--source", 33)
    assert done.returncode == 0, done.stderr
    assert "2 sources" in done.stdout
    assert "cpu:sequential" in done.stdout


def test_run_shows_levels_and_path(rapids_bfs):
    done = rapids_bfs("run", "karate", "--source", 0, "--target", 26)
    assert done.returncode == 0, done.stderr
    lengths = nx.single_source_shortest_path_length(nx.karate_club_graph(), 0)
    assert f"26 is at distance {lengths[26]}: 0 - " in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["1", str(sum(length == 1 for length in lengths.values()))] in rows


def test_trace(rapids_bfs, tmp_path):
    done = rapids_bfs("trace", "path:4", "--source", 0, "--engine", "cpu", "--json", tmp_path / "t.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "t.json").read_text())
    assert [level["newly_reached"] for level in found["levels"]] == [1, 1, 1, 0]
    assert [level["frontier_edges"] for level in found["levels"]] == [1, 2, 2, 1]
    assert {level["direction"] for level in found["levels"]} <= {"top-down", "bottom-up"}
    assert all(level["milliseconds"] > 0 for level in found["levels"])
    assert "frontier vertices" in done.stdout
    assert rapids_bfs("trace", "karate").returncode == 0


def test_a_warning_is_one_line_without_python(tmp_path):
    (tmp_path / "g.csv").write_text("ann,bob\ncid,dan\n")
    command = [sys.executable, "-m", "rapids_bfs", "run", "g.csv", "--source", "cid"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False)
    assert done.returncode == 0
    assert re.fullmatch(r"warning: g.csv: its first row, 'ann' and 'bob', is taken for a header: .*\n", done.stderr)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather", "csv", "tsv"])
def test_a_result_is_written_and_validates(rapids_bfs, tmp_path, suffix):
    (tmp_path / "g.csv").write_text("from,to\nann,bob\nbob,cid\ndan,eve\n")
    done = rapids_bfs("run", "g.csv", "--source", "ann", "--out", f"r.{suffix}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = rapids_bfs("validate", "g.csv", f"r.{suffix}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "valid\n"), done.stderr


def test_a_wrong_result_ends_with_1(rapids_bfs, tmp_path):
    (tmp_path / "g.csv").write_text("u,v\n0,1\n1,2\n")
    (tmp_path / "r.csv").write_text("vertex,distance,predecessor\n0,0,-1\n1,1,0\n2,3,1\n")
    done = rapids_bfs("validate", "g.csv", "r.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "rule 'distance-range' is broken: vertex 2 has distance 3" in done.stdout


@pytest.mark.parametrize(
    ("header", "row", "says"),
    [
        ("vertex,distance", "2,2", "valid distances; there are no predecessors to check\n"),
        (
            "vertex,distance,parent",
            "2,2,9",
            "valid distances; there are no predecessors to check\nnot checked: 'parent'; ",
        ),
        ("vertex,distance,predecessor,parent", "2,2,1,9", "valid\nnot checked: 'parent'; a result has vertex, "),
    ],
)
def test_what_was_not_checked_is_said(rapids_bfs, tmp_path, header, row, says):
    rows = ["0,0,-1,9", "1,1,0,9"]
    width = header.count(",") + 1
    text = "\n".join([header, *(",".join(each.split(",")[:width]) for each in rows), row])
    (tmp_path / "r.csv").write_text(text + "\n")
    done = rapids_bfs("validate", "path:3", "r.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(says)


def test_several_sources_depth_limit_and_determinism(rapids_bfs, tmp_path):
    arguments = ["--source", 0, "--source", 33, "--depth-limit", 1, "--deterministic", "--out", tmp_path / "r.parquet"]
    assert rapids_bfs("run", "karate", *arguments).returncode == 0
    distances = pyarrow.parquet.read_table(tmp_path / "r.parquet")["distance"].to_pylist()
    assert set(distances) == {-1, 0, 1}
    assert rapids_bfs("validate", "karate", tmp_path / "r.parquet", "--depth-limit", 1).returncode == 0
    done = rapids_bfs("validate", "karate", tmp_path / "r.parquet")
    assert done.returncode == 1
    assert "--depth-limit" in done.stdout


def test_a_result_that_stopped_at_a_target_validates(rapids_bfs, tmp_path):
    """On a path the vertices beyond the target are left unreached."""
    result = tmp_path / "r.csv"
    assert rapids_bfs("run", "path:9", "--source", 2, "--target", 5, "--out", result).returncode == 0
    assert rapids_bfs("validate", "path:9", result, "--target", 5).returncode == 0
    done = rapids_bfs("validate", "path:9", result)
    assert done.returncode == 1
    assert "--target" in done.stdout
    assert "99 is not a vertex of path:9" in rapids_bfs("validate", "path:9", result, "--target", 99).stderr


def test_convert_there_and_back(rapids_bfs, tmp_path):
    for step, (graph, out) in enumerate([("karate", "a.parquet"), ("a.parquet", "b.sg"), ("b.sg", "c.mtx.gz")]):
        done = rapids_bfs("convert", graph, out, cwd=tmp_path)
        assert done.returncode == 0, (step, done.stderr)
        assert "34 vertices, 78 edges" in done.stdout
    assert rapids_bfs("convert", "c.mtx.gz", "a.parquet", "--force", cwd=tmp_path).returncode == 0


def test_directions(rapids_bfs, tmp_path):
    (tmp_path / "g.csv").write_text("a,src,dst\n1,0,1\n1,0,1\n1,1,1\n")
    for flags, edges in (([], 3), (["--undirected"], 3), (["--simple"], 1), (["--undirected", "--simple"], 1)):
        done = rapids_bfs("convert", "g.csv", "o.npz", "--force", *flags, cwd=tmp_path)
        assert f"2 vertices, {edges} edge{'s' if edges > 1 else ''}\n" in done.stdout, done.stderr


def test_info(rapids_bfs):
    done = rapids_bfs("info")
    assert done.returncode == 0, done.stderr
    for word in ("cpu", "direction-optimizing, sequential", "scipy", "networkx", "numpy", "cores", "wordnet"):
        assert word in done.stdout


def test_info_breaks_no_word():
    """In 40 columns, lines break at spaces and after hyphens."""
    text = StringIO()
    show(info_tables(), out=console(file=text, width=40, color_system=None, force_terminal=True))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) == 40
    words = {word for row in lines for word in row.split()}
    assert {"direction-", "optimizing,", "numba-cuda", "suitesparse-graphblas"} <= words
    assert not [word for word in words if word.endswith("optimi") or word.startswith("zing")]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(rapids_bfs, command):
    done = rapids_bfs(command, "--help")
    assert done.returncode == 0
    assert f"rapids-bfs {command}" in done.stdout


@pytest.mark.parametrize("command", [*COMMANDS, "datasets"])
def test_help_breaks_no_example_and_calls_no_flag_a_bool(rapids_bfs, command):
    said = rapids_bfs(command, "--help").stdout
    assert "<bool>" not in said
    examples = said.partition("Examples")[2].partition("\N{BOX DRAWINGS LIGHT ARC DOWN AND RIGHT}")[0].splitlines()[1:]
    assert all(row.startswith("   rapids-bfs ") for row in examples if row.strip())


@pytest.mark.parametrize("command", ["compare", "warmup", "datasets"])
def test_help_breaks_lines_at_the_end_of_the_terminal_alone(command):
    program = [sys.executable, "-m", "rapids_bfs", command, "--help"]
    said = subprocess.run(program, env=os.environ | {"COLUMNS": "80"}, capture_output=True, check=True, timeout=600)
    prose = [row.strip() for row in said.stdout.decode().partition("Examples")[0].splitlines()]
    broken = [(row, after) for row, after in pairwise(prose) if row and after]
    assert broken
    assert all(len(f" {row} {after.split()[0]}") > 78 for row, after in broken)


def test_help_lists_the_parts_of_warmup(rapids_bfs):
    said = rapids_bfs("warmup", "--help").stdout
    assert [part for part in PARTS if part not in said] == []


@pytest.mark.parametrize("columns", ["40", "80"])
@pytest.mark.parametrize("command", ["compare", "run"])
def test_help_cuts_no_word(command, columns):
    program = [sys.executable, "-m", "rapids_bfs", command, "--help"]
    done = subprocess.run(program, env=os.environ | {"COLUMNS": columns}, capture_output=True, check=True, timeout=600)
    assert "…" not in done.stdout.decode()


def test_help_lists_the_commands(rapids_bfs):
    done = rapids_bfs("--help")
    assert "<bool>" not in done.stdout
    for command in COMMANDS:
        assert command in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "missing.mtx"], "missing.mtx does not exist"),
        (["compare", "nonsense"], "'nonsense' is not a file, a generator"),
        (["compare", "."], ". is a directory"),
        (["compare", "rmat:99"], "the scale must be in 0..48"),
        (["compare", "rmat:40"], "TiB of memory, and"),
        (["compare", "karate", "--engines", "warp"], "unknown engine 'warp': choose from"),
        (["compare", "karate", "--engines", "cpu:warp"], "no algorithm 'warp': it has direction-optimizing"),
        (["compare", "karate", "--source", "99"], "99 is not a vertex of karate; its vertices are 0..33"),
        (["compare", "karate", "--baseline", "scipy", "--engines", "cpu"], "is not one of the engines: cpu"),
        (["compare", "karate", "--num-sources", "0"], "at least 1, not 0"),
        (["compare", "karate", "--num-sources", "2", "--source", "0"], "to draw, not both"),
        (["compare", "karate", "--depth-limit", "-1"], "the depth limit must be at least 0, not -1"),
        (["compare", "karate", "--json", "no/such/dir.json"], "there is no directory no/such"),
        (
            ["compare", "karate", "--source-column", "u"],
            "karate is a bundled graph, which has no source column to choose",
        ),
        (["run", "karate", "--source", "x"], "'x' is not a vertex"),
        (["run", "karate", "--source", "0", "--target", "77"], "77 is not a vertex"),
        (["run", "karate", "--source", "0", "--out", "r.xlsx"], "the suffix of a result file is one of .parquet"),
        (
            ["run", "karate", "--source", "0", "--out", "taken.csv"],
            "taken.csv exists: choose another name, or replace it with --force",
        ),
        (["convert", "karate", "taken.csv"], "replace it with --force"),
        (["compare", "karate", "--json", "taken.csv"], "replace it with --force"),
        (["convert", "karate", "out.xlsx"], "out.xlsx"),
        (["convert", "nulls.csv", "o.npz"], "column 'dst', row 1"),
        (["convert", "columns.csv", "o.npz"], "'one', 'two', 'three'"),
        (["validate", "karate", "gone.parquet"], "gone.parquet does not exist"),
        (["validate", "karate", "taken.csv"], "no column 'vertex': it has a"),
        (["validate", "karate", "short.csv"], "must hold each vertex of karate once"),
    ],
)
def test_bad_input_is_one_message(refused, tmp_path, arguments, message):
    (tmp_path / "taken.csv").write_text("a\n1\n")
    (tmp_path / "nulls.csv").write_text("src,dst\n0,1\n1,\n")
    (tmp_path / "columns.csv").write_text("one,two,three\n0,1,2\n")
    (tmp_path / "short.csv").write_text("vertex,distance\n0,0\n")
    assert message in refused(*arguments, cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["columns.csv", "nulls.csv", "short.csv", "taken.csv"]


def test_an_output_that_exists_is_kept_before_any_work(rapids_bfs, refused, tmp_path):
    (tmp_path / "out.json").write_text("mine")
    assert "exists" in refused("compare", "rmat:99", "--json", tmp_path / "out.json")
    assert (tmp_path / "out.json").read_text() == "mine"
    assert (
        rapids_bfs("compare", "karate", "--num-sources", 1, "--json", tmp_path / "out.json", "--force").returncode == 0
    )
    assert json.loads((tmp_path / "out.json").read_text())


def test_version(rapids_bfs):
    assert rapids_bfs("--version").stdout.strip() == version("rapids-bfs")


def test_nothing_to_run_is_said_without_a_table(rapids_bfs, monkeypatch):
    monkeypatch.setattr(CPU, "unavailable", lambda self: "out for lunch")
    done = rapids_bfs("compare", "karate", "--engines", "cpu")
    assert done.stdout.splitlines() == ["karate: 34 vertices, 78 undirected edges", "cpu: out for lunch"]
    assert done.returncode == 2
    assert done.stderr.startswith("error: none of these engines could run")


def test_the_command_is_installed():
    command = Path(sys.executable).with_name("rapids-bfs")
    done = subprocess.run([command, "compare", "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: 'nonsense' is not a file")


INTERRUPTED = """
import os, signal
from rapids_bfs.cli import main
from rapids_bfs.engines.libraries.scipy import CSGraph

search, searches = CSGraph.search, []
def interrupted(self, *arguments):
    searches.append(arguments)
    if len(searches) == 20:
        os.kill(os.getpid(), signal.SIGINT)
    return search(self, *arguments)
CSGraph.search = interrupted
main()
"""


def test_ctrl_c_shows_what_is_finished(tmp_path):
    arguments = [
        "compare",
        "rmat:8",
        "--num-sources",
        "4000",
        "--engines",
        "scipy,cpu",
        "--json",
        tmp_path / "out.json",
    ]
    command = [sys.executable, "-c", INTERRUPTED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "only finished runs are shown" in done.stdout
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["interrupted"]
    assert 0 < len(found["engines"][0]["run_ms"]) < 20
