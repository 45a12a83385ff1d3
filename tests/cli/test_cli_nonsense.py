"""The command, as nobody should type it: whatever it is given, an answer or one line and exit code 2."""

import os
import pty
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

import rapids_bfs.engines
from rapids_bfs import as_graph, compare
from rapids_bfs.cli import run_command
from rapids_bfs.cli.commands import app
from rapids_bfs.engines.cpu import CPU
from rapids_bfs.report.console import console, line
from rapids_bfs.report.documents import in_terminal
from rapids_bfs.report.table import comparison_tables, levels_table

USUAL = {
    "compare": ["karate", "--engines=cpu", "--num-sources=1"],
    "run": ["karate", "--source=0"],
    "trace": ["karate", "--source=0", "--engine=cpu"],
    "validate": ["path:3", "r.csv"],
    "convert": ["karate", "o.npz", "--force"],
    "graph500": ["--scale=4", "--roots=1", "--engine=cpu"],
    "datasets": ["gap"],
    "info": [],
    "warmup": [],
}
COMMANDS = typer.main.get_command(app).commands
NONSENSE = [
    "", " ", "-1", "0", "x", "10^20", "1" + 20 * "0", "-1" + 20 * "0", "1" + 5000 * "0", "1.5", "1e3", "nan", "1_0",
    "\N{ARABIC-INDIC DIGIT ONE}", "[/bold]", "[red]x[/red]", ":smile:", "\x1b[31m", "a\nb", "\udcff", ",", ":", "cpu:",
    "..", "/dev/full", "/dev/null/x", "no/such/x.csv", "x.csv", 300 * "x", "--json", "-h",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def built_once():
    """Typer builds all commands at each call, which takes longer than what they do here."""
    with mock.patch.object(typer.main, "get_command", cache(typer.main.get_command)):
        yield


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text("vertex,distance,predecessor\n0,0,-1\n1,1,0\n2,2,1\n")
    return tmp_path


def ends_well(capsys, arguments, codes=(0, 2)):
    """Run the command; return its exit code, standard output and error."""
    code = run_command(arguments)
    out, err = capsys.readouterr()
    assert code in codes, (arguments, code, err)
    assert "Traceback" not in err
    if code == 2:
        assert len(err.splitlines()) == 1, (arguments, err)
        assert err.startswith("error: "), (arguments, err)
    return code, out, err


OPTIONS = [
    (command, parameter.opts[0])
    for command, about in COMMANDS.items()
    for parameter in about.params
    if parameter.param_type_name == "option" and not parameter.is_flag
]


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_every_option_with_nonsense(here, capsys, command, option):
    usual = [each for each in USUAL[command] if not each.startswith(f"{option}=")]
    codes = (0, 1, 2) if command == "validate" else (0, 2)  # with another depth limit a result is wrong
    assert 2 in {ends_well(capsys, [command, *usual, f"{option}={value}"], codes)[0] for value in NONSENSE}


@pytest.mark.parametrize("command", ["compare", "run", "trace", "validate", "convert", "datasets"])
def test_every_argument_with_nonsense(here, capsys, command):
    for place in range(len([each for each in USUAL[command] if not each.startswith("-")])):
        for value in NONSENSE:
            arguments = list(USUAL[command])
            arguments[place] = value
            ends_well(capsys, [command, *arguments])


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_line(here, capsys, command):
    usual = [command, *USUAL[command]]
    for arguments in ([*usual, "--nonsense"], [*usual, "too", "many", "words"], [*usual, "--source"], [f"{command}x"]):
        assert ends_well(capsys, arguments, (2,))[2].endswith(" --help'\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "karate", "--seed", "-1"], "the seed must be at least 0, not -1"),
        (["compare", "karate", "--seed", "10^20"], "Invalid value for '--seed'"),
        (["compare", "karate", "--num-sources", "-1"], "the number of sources must be at least 1, not -1"),
        (["compare", "karate", "--engines", ""], "not ''"),
        (["run", "karate", "--source", "1_0"], "'1_0' is not a vertex"),
        (["graph500", "--scale", "99"], "the scale must be in 0..48, not 99"),
        (["graph500", "--scale", "4", "--roots", "0"], "the number of roots must be at least 1, not 0"),
        (["graph500", "--scale", "4", "--edge-factor", "-1"], "the edge factor must be at least 1, not -1"),
        (["graph500", "--scale", "4", "--seed", "-1"], "the seed must be at least 0, not -1"),
        (["validate", "path:3", "text.csv"], "column 'distance', row 0 (from 0): 'zero' is not an integer"),
    ],
)
def test_what_is_wrong_is_said(here, capsys, arguments, message):
    Path("text.csv").write_text("vertex,distance\n0,zero\n1,one\n2,two\n")
    assert message in ends_well(capsys, arguments, (2,))[2]


def test_a_depth_limit_beyond_everything(here, capsys):
    for command in ("compare", "run", "trace", "validate"):
        ends_well(capsys, [command, *USUAL[command], "--depth-limit=1" + 20 * "0"], (0,))


def test_two_outputs_that_are_one_file_are_refused_before_any_work(here, capsys):
    os.symlink("x", "link")
    os.symlink(".", "dir")
    Path("old").write_text("mine")
    os.link("old", "hard")
    Path("g.csv").write_text("0,1\n")
    for one, other in (("x", "x"), ("x", "./x"), ("x", "link"), ("dir/x", "x"), ("old", "hard")):
        err = ends_well(capsys, ["compare", "rmat:99", "--json", one, "--csv", other, "--force"], (2,))[2]
        assert f"--csv {Path(other)} is also the file of --json: give each its own" in err
    err = ends_well(capsys, ["compare", "g.csv", "--html", "./g.csv", "--force"], (2,))[2]
    assert "--html g.csv is also the file of the graph" in err
    assert Path("old").read_text() == "mine"


@pytest.mark.skipif(os.getuid() == 0, reason="everything is writable for root")
def test_an_output_that_is_not_writable_is_refused_before_any_work(here, capsys):
    Path("old.json").write_text("mine")
    Path("old.json").chmod(0o400)
    assert "not writable" in ends_well(capsys, ["compare", "rmat:99", "--json=old.json", "--force"], (2,))[2]


def test_an_output_that_is_a_device(here, capsys):
    for command, option in (("compare", "json"), ("compare", "csv"), ("compare", "html"), ("trace", "json")):
        err = ends_well(capsys, [command, *USUAL[command], f"--{option}=/dev/full", "--force"], (2,))[2]
        assert err.endswith("error: /dev/full cannot be written: No space left on device\n")


# Names that consoles take for markup, codes or commands.
NAMES = ["[old]", "[/bold]", "[red]x[/red]", "[link=x]", ":smile:", "[]", "[[x]]", "\\[x]", "[bold", "100%", "{x}"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_printed_as_they_are(here, capsys, name):
    graph = f"graph {name}".replace("/", "|")
    file = f"{graph}.csv"
    Path(file).write_text(f"u,v\nann,{name}\n{name},bob\n")

    def said(*arguments, code=0):
        _, out, err = ends_well(capsys, arguments, (code,))
        return err if code else out

    assert said("trace", file, "--source", name, "--engine=cpu").startswith(
        f"{graph}, cpu:direction-optimizing, from {name}\n"
    )
    assert said("run", file, "--source=ann", "--target", name).startswith(f"{graph}: 2 of 3 vertices reached\n")
    assert f"{name} is at distance 1: ann - {name}\n" in said("run", file, "--source=ann", "--target", name)
    assert said("compare", file, "--engines=cpu", "--source", name).startswith(f"{graph}: 3 vertices, 2 ")
    assert said("convert", file, f"{graph}.npz").startswith(f"{graph}.npz: 3 vertices")
    assert f"{name}.csv does not exist" in said("run", f"{name}.csv", "--source=0", code=2)
    assert f"unknown engine {name.partition(':')[0]!r}" in said("run", file, "--source=ann", "--engine", name, code=2)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_no_text_reaches_a_terminal_but_as_itself(text):
    """In titles, notes, and cells, and where a program prints our tables on a console of its own."""
    comparison = compare(as_graph([(0, 1)]), num_sources=1, engines="scipy")
    comparison.graph.name = comparison["scipy"].unavailable = text
    shown = line(text).plain
    for group in (in_terminal(comparison_tables(comparison.to_dict())), levels_table(text, 2, [1, 1])):
        out = console(width=10_000)
        with out.capture() as capture:
            out.print(group)
        assert capture.get().startswith(f"{shown}: 2 ")
    assert f"scipy: {shown}" in str(comparison)
    assert all(each.isprintable() for each in shown)


def test_a_console_of_ours_has_no_markup():
    """Nobody else makes one, so that nothing that users have named is taken for markup."""
    package = Path(rapids_bfs.engines.__file__).parents[1]
    makers = [path.name for path in package.rglob("*.py") if re.search(r"\bConsole\(", path.read_text())]
    assert makers == ["console.py"]
    assert not re.search(r"from_markup|\.status\(f?\"", "".join(path.read_text() for path in package.rglob("*.py")))


def test_our_fault_has_a_traceback_and_an_exit_code_of_its_own(here, capsys, monkeypatch):
    monkeypatch.setattr(CPU, "unsupported", lambda *arguments: 1 / 0)
    assert run_command(["run", "karate", "--source=0", "--engine=cpu"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_ctrl_c_is_one_line(here, capsys, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(CPU, "unsupported", interrupted)
    assert run_command(["run", "karate", "--source=0", "--engine=cpu"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


def test_no_letter_is_lost_in_a_narrow_terminal(here, capsys, monkeypatch):
    from rapids_bfs.report.console import screen

    monkeypatch.setattr(screen, "width", 20)
    for arguments in (["compare", "karate", "--num-sources=2"], ["trace", "karate"], ["info"], USUAL["run"]):
        arguments = ["run", *arguments] if arguments is USUAL["run"] else arguments
        assert "\N{HORIZONTAL ELLIPSIS}" not in ends_well(capsys, arguments, (0,))[1]


PROGRAM = [sys.executable, "-m", "rapids_bfs"]


def program(*arguments, **options):
    return subprocess.run([*PROGRAM, *arguments], stderr=subprocess.PIPE, timeout=600, check=False, **options)


def test_nobody_reads_on():
    """The program ends as others do: killed by SIGPIPE, without a word."""
    read, write = os.pipe()
    os.close(read)
    done = program("run", "karate", "--source=0", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_no_standard_output_at_all():
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *PROGRAM, "run", "karate", "--source=0"], timeout=600, check=False
    )
    assert done.returncode == 0


def test_an_encoding_that_lacks_letters(here):
    Path("g.csv").write_text("u,v\n\N{LATIN SMALL LETTER E WITH ACUTE},b\n", encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = program(
        "run", "g.csv", "--source=\N{LATIN SMALL LETTER E WITH ACUTE}", "--target=b", stdout=-1, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert rb"b is at distance 1: \xe9 - b" in done.stdout


@pytest.mark.parametrize(
    "environment", [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {"TERM": "xterm", "COLUMNS": "20"}], ids=str
)
def test_a_terminal(environment):
    own, theirs = pty.openpty()
    done = program("compare", "karate", "--engines=cpu", "--num-sources=1", stdout=theirs, env=os.environ | environment)
    os.close(theirs)
    shown = os.read(own, 1 << 16).decode()
    os.close(own)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "edges to answer" not in shown
    assert "median ms" in shown
    if "COLUMNS" not in environment:
        assert "\x1b[3" not in shown or "NO_COLOR" in environment


INTERRUPTED = """
import os, signal, sys
from rapids_bfs.cli import main

def interrupt(event, arguments):
    if event == "import" and arguments[0] == module and not sent:
        sent.append(os.kill(os.getpid(), signal.SIGINT))
module, sent = sys.argv.pop(1), []
sys.addaudithook(interrupt)
main()
"""


@pytest.mark.parametrize(
    "module", ["typer", "numpy", "numba.core.types.misc", "rapids_bfs.kernels.cpu.direction_optimizing"]
)
def test_ctrl_c_at_any_time(module):
    """It comes when the program imports this module: as it starts, and as it searches a graph too large for NumPy."""
    command = [sys.executable, "-c", INTERRUPTED, module, "run", "star:2000000", "--source=0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
