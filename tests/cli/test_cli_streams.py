"""The command in pipes, on tables without a header, as a module, and completed by a shell."""

import io
import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet
import pytest
from programs import run_each

from rapids_bfs import InputError, as_graph, bfs, read
from rapids_bfs.cli import run_command
from rapids_bfs.generators import generate, leaves_isolated

DATA = str(files("rapids_bfs.data"))

PROGRAM = [sys.executable, "-m", "rapids_bfs"]
IMPORTS = "import numba, pandas, pyarrow.compute, typer.rich_utils"
TO_A_FULL_DISK = """
from rapids_bfs.cli import main
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
sys.argv = ["rapids-bfs", *{}]
main()
"""


@pytest.fixture
def command(capsysbinary, monkeypatch):
    """Run the command in this process; its exit code, and what it printed to standard output and error."""

    def run(*arguments, given=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = run_command(list(map(str, arguments)))
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


@pytest.mark.parametrize("graph", ["karate", "star:5", "path:1"])
def test_a_graph_goes_through_a_pipe(command, graph):
    code, text, err = command("convert", graph, "-")
    assert (code, "edge" in err) == (0, True)
    code, out, _ = command("run", "-", "--source", 0, "--out", "-", given=text.encode())
    expected = bfs(graph, 0).to_frame("pandas").to_csv(index=False).split()
    assert code == 0
    assert [row.split(",")[:2] for row in out.split()[1:]] == [row.split(",")[:2] for row in expected[1:]]


def test_a_graph_that_an_edge_list_cannot_hold_is_not_printed(command):
    code, out, err = command("convert", "moby", "-")
    assert (code, out) == (2, "")
    assert err.startswith("error: standard output: an edge list would lose vertices")


def test_a_minus_in_a_folder_is_a_file(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = command("run", "karate", "--source", 0, "--engine", "cpu", "--out", "./-")
    assert (code, out) == (2, "")  # as a file it needs a suffix
    code, out, _ = command("trace", "karate", "--source", 0, "--engine", "cpu", "--json", "./-")
    assert (code, "levels" in out) == (0, False)
    assert json.loads((tmp_path / "-").read_text())["graph"] == "karate"
    code, out, _ = command("trace", "karate", "--source", 0, "--engine", "cpu", "--json", "-")
    assert json.loads(out)["graph"] == "karate"
    code, _, err = command("trace", "karate", "--source", 0, "--engine", "cpu", "--json", "./-")
    assert (code, "exists" in err) == (2, True)


@pytest.mark.parametrize("spec", ["rmat:12", "rmat:10:1", "rmat:14:64"])
def test_a_graph_that_is_said_to_have_isolated_vertices_has_some(spec):
    assert leaves_isolated(spec)
    assert (generate(spec).degrees == 0).any()


@pytest.mark.parametrize("spec", ["rmat:3", "rmat:1:99", "urand:12", "urand:12:1", "grid:9", "star:5"])
def test_a_graph_may_have_no_isolated_vertices(command, tmp_path, spec):
    assert not leaves_isolated(spec)
    code, _, err = command("convert", spec, tmp_path / "g.csv")
    assert (code == 0) == bool((generate(spec).degrees > 0).all()), err


def test_every_format_is_told_from_standard_input(command, tmp_path):
    graph = as_graph("karate")
    for suffix in (".parquet", ".arrow", ".arrows", ".npz", ".mtx", ".mtx.gz", ".csv", ".sg", ".txt"):
        graph.save(tmp_path / f"g{suffix}")
        code, out, err = command("run", "-", "--source", 0, given=(tmp_path / f"g{suffix}").read_bytes())
        assert (code, out.splitlines()[0]) == (0, "standard input: 34 of 34 vertices reached"), (suffix, err)


@pytest.mark.parametrize("text", [b"src\tdst\na\tb\nb\tc\n", b"a\tb\nb\tc\n", b"1\t2\n2\t3\n"])
def test_a_tsv_is_told_from_standard_input(command, text):
    headless = [] if text.startswith(b"src") or text[:1].isdigit() else ["--no-header"]
    source = text.split()[-3].decode()
    code, out, err = command("run", "-", "--source", source, *headless, given=text)
    assert (code, out.splitlines()[0]) == (0, "standard input: 2 of 3 vertices reached"), err


def test_json_goes_through_a_pipe_and_the_table_beside_it(command):
    code, out, err = command("compare", "karate", "--engines=cpu", "--source=0", "--json=-")
    assert json.loads(out)["engines"][0]["engine"] == "cpu"
    assert (code, "median ms" in err) == (0, True)
    code, out, err = command("trace", "karate", "--engine=cpu", "--source=0", "--json=-")
    assert [json.loads(out)["engine"], "newly reached" in err] == ["cpu:direction-optimizing", True]
    code, out, err = command("graph500", "--scale=5", "--roots=1", "--engine=cpu", "--json=-")
    assert [json.loads(out)["scale"], "harmonic_mean_TEPS" in err] == [5, True]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"", "error: standard input is empty\n"),
        (b"\0\1", "error: standard input has an unknown format"),
        (b"u,v\n0,1\n1,-2\n", "error: standard input, column 'v', row 1 (from 0): -2 is negative"),
    ],
)
def test_what_is_wrong_with_standard_input_is_said(command, given, message):
    code, out, err = command("run", "-", "--source=0", given=given)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_standard_input_that_cannot_be_kept(command, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    code, _, err = command("run", "-", "--source=0")
    assert (code, "error: standard input cannot be copied to a file in " in err) == (2, True)
    assert err.endswith(": No space left on device\n")


def test_standard_output_takes_one_output(command):
    code, _, err = command("compare", "rmat:99", "--json=-", "--csv=-")
    assert (code, err) == (2, "error: --csv - is also the file of --json: give each its own\n")


@pytest.mark.skipif(os.name != "posix", reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_is_full(unbuffered):
    commands = (
        ["convert", "karate", "-"],
        ["run", "karate", "--source=0"],
        ["run", "karate", "--source=0", "--out=-"],
        ["trace", "karate", "--json=-"],
        ["graph500", "--scale=4", "--roots=1", "--engine=cpu"],
        ["datasets", "dimacs10"],  # more than a buffer holds
        ["--help"],
    )
    programs = [TO_A_FULL_DISK.format(arguments) for arguments in commands]
    done = run_each(programs, imports=IMPORTS, PYTHONUNBUFFERED=unbuffered)
    for each in done:
        assert (each.returncode, each.stderr) == (2, "error: standard output: No space left on device\n"), each


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell closes the streams")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run - --source 0 <&-", "standard input is closed"),
        ("convert karate - >&-", "standard output is closed"),
        ("compare karate --engines=cpu --json=- >&-", "standard output is closed"),
    ],
)
def test_streams_that_are_closed(arguments, message):
    command = f'"{sys.executable}" -m rapids_bfs {arguments}'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (2, f"error: {message}\n")


@pytest.mark.skipif(os.name != "posix", reason="only there does a pipe without a reader end the process")
def test_a_reader_that_goes_away_leaves_no_file_behind(tmp_path):
    command = f'"{sys.executable}" -m rapids_bfs convert grid:200 - | head -c 1'
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, timeout=600, check=False)
    assert len(done.stdout) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_may_have_the_name_of_standard_input(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("./-").write_text("3 4\n")
    code, out, _ = command("run", "./-", "--source=3")
    assert (code, "2 of 2 vertices reached" in out) == (0, True)
    code, _, err = command("compare", "./-", "--json", "./-", "--force")
    assert code == 2
    assert "is also the file of the graph" in err
    assert Path("./-").read_text() == "3 4\n"
    assert command("compare", "./-", "--engines", "cpu", "--json", "-")[0] == 0


def test_a_bundled_graph_is_named_by_its_name(command):
    code, _, err = command("run", "karate", "--source=0", "--no-header")
    assert (code, err) == (2, "error: karate is a bundled graph, which has no header to choose\n")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_a_table_without_a_header(tmp_path, suffix):
    import gzip

    text = b"5,0,1.5\n1,2,0.5\n2,0,9\n".replace(b",", b"\t" if suffix == ".tsv" else b",")
    path = tmp_path / f"g{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    assert sorted(read(path, header=False).ids_of(range(4)).tolist()) == [0, 1, 2, 5]
    assert read(path, header=False).columns == ("0", "1")
    assert read(path, header=False, source=1, target="0").columns == ("1", "0")
    with pytest.raises(InputError, match=r"no header row: .* header=False"):
        read(path)
    with pytest.raises(InputError, match="no column 3: there are 3, from 0"):
        read(path, header=False, target=3)
    with pytest.raises(InputError, match=r"column '2', row 0 \(from 0\): 1.5 is fractional"):
        read(path, header=False, target=2)
    with pytest.raises(InputError, match="header must be True or False"):
        read(path, header="no")


def test_rows_without_a_header_are_counted_from_the_first(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("0,1\n1,2\n2,x\n")
    with pytest.raises(InputError, match=r"column '1', row 2 \(from 0\): 'x' is no"):
        read(path, header=False)
    path.write_text("a,b\n0,1\n1,2\n2,x\n")
    with pytest.raises(InputError, match=r"column 'b', row 2 \(from 0\): 'x' is no"):
        read(path)


def test_columns_by_their_place(tmp_path):
    (tmp_path / "g.csv").write_text("a,b,c\n0,1,2\n")
    assert read(tmp_path / "g.csv", source=2, target=0).columns == ("c", "a")


def test_only_tables_of_text_have_a_header(tmp_path, command):
    as_graph("karate").save(tmp_path / "g.parquet")
    with pytest.raises(InputError, match=r"g\.parquet is Parquet, which has no header to choose"):
        read(tmp_path / "g.parquet", header=False)
    assert command("run", "rmat:4", "--no-header", "--source=0")[2].startswith("error: rmat:4 is a generated graph")


def test_no_header_on_the_command_line(command, tmp_path):
    (tmp_path / "g.csv").write_text("7,0\n0,1\n")
    assert "3 of 3" in command("run", tmp_path / "g.csv", "--source=7", "--no-header")[1]
    code, out, _ = command(
        "run", tmp_path / "g.csv", "--source=1", "--no-header", "--source-column=1", "--target-column=0"
    )
    assert (code, "3 of 3" in out) == (0, True)
    assert command("compare", tmp_path / "g.csv", "--no-header", "--engines=cpu", "--source=7")[0] == 0
    code, _, err = command("run", tmp_path / "g.csv", "--source=7")
    assert (code, "--no-header" in err) == (2, True)


def test_the_package_is_a_program():
    done = subprocess.run(
        [*PROGRAM, "run", "path:3", "--source=0"], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("path:3: 3 of 3 vertices reached\n")
    done = subprocess.run([*PROGRAM, "nonsense"], capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (2, "error: No such command 'nonsense': see 'rapids-bfs --help'\n")


def test_a_shell_completes_commands_and_options(monkeypatch, capsys):
    def asked(words):
        return {"_RAPIDS_BFS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}

    program = Path(sys.executable).with_name("rapids-bfs")
    environment = os.environ | asked("rapids-bfs com")
    done = subprocess.run([program], capture_output=True, text=True, timeout=600, check=True, env=environment)
    assert done.stdout.split() == ["compare"]
    for words, *completed in (
        ("rapids-bfs compare karate --eng", "--engines"),
        ("rapids-bfs compare karate --engines cpu,sci", "cpu,scipy"),
        ("rapids-bfs run karate --engine cpu:", "cpu:direction-optimizing", "cpu:sequential"),
        ("rapids-bfs run k", "karate"),
        ("rapids-bfs run rm", "rmat:"),
        ("rapids-bfs warmup --only bf", "bfs", "bfs_batch"),
    ):
        for variable, value in asked(words).items():
            monkeypatch.setenv(variable, value)
        with pytest.raises(SystemExit):
            run_command([])
        assert capsys.readouterr().out.split() == completed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "rmat:99", "--engines=foo"], "unknown engine 'foo'"),
        (["compare", "rmat:99", "--baseline=scipy", "--engines=cpu"], "the baseline 'scipy' is not one of the engines"),
        (["compare", "rmat:99", "--seed=-1"], "the seed must be at least 0"),
        (["compare", "rmat:99", "--num-sources=0"], "the number of sources must be at least 1"),
        (["compare", "rmat:99", "--depth-limit=-1"], "must be at least 0"),
        (["run", "rmat:99", "--source=0", "--engine=foo"], "unknown engine 'foo'"),
        (["run", "rmat:99", "--source=0", "--depth-limit=-1"], "must be at least 0"),
        (["trace", "rmat:99", "--engine=foo"], "unknown engine 'foo'"),
        (["trace", "rmat:99", "--depth-limit=-1"], "must be at least 0"),
        (["validate", "rmat:99", "r.csv", "--depth-limit=-1"], "must be at least 0"),
        (["convert", "rmat:99", "x.xlsx"], "x.xlsx: unknown suffix"),
        (["convert", "rmat:48", "x.csv"], "x.csv: CSV would lose the vertices without edges of rmat:48"),
    ],
)
def test_arguments_are_checked_before_the_graph_is_made(command, arguments, message):
    """The graph is one that cannot be made, so that it would be complained about first."""
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_messages_name_no_python_arguments(command, tmp_path):
    (tmp_path / "g.csv").write_text("a,b,c\n1,2,3\n")
    for arguments in (
        ["run", "karate", "--source=0", "--source-column=x"],
        ["run", "rmat:4", "--source=0", "--source-column=x"],
        ["run", tmp_path / "g.csv", "--source=0"],
        ["run", "karate", "--source=0", "--depth-limit=-1"],
        ["trace", "karate", "--source=0", "--engine=cpu", "--check"],
    ):
        code, _, err = command(*arguments)
        assert code == 2
        assert "=" not in err.replace("--", "")
        assert "_" not in err.replace(str(tmp_path), "").replace(DATA, "")


def test_a_wide_option_and_a_result_in_parquet(command, tmp_path):
    assert command("compare", "karate", "--engines=cpu", "--source=0", "--wide")[0] == 0
    assert command("run", "karate", "--source=0", "--out", tmp_path / "r.parquet")[0] == 0
    assert pyarrow.parquet.read_table(tmp_path / "r.parquet").num_rows == 34


@pytest.mark.parametrize("spec", ["rmat:-2000", "rmat:20:-5", "rmat:99999"])
def test_a_size_that_no_graph_has_is_named(command, spec):
    code, _, err = command("convert", spec, "o.csv")
    assert code == 2
    assert "vertices without edges" not in err
    assert spec.split(":")[-1] in err
