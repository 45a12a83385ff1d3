"""``rapids-bfs compare --suite``, as a stranger types it."""

import json
import re
import sys
from io import StringIO
from pathlib import Path

import pytest

import rapids_bfs.engines.cpu
from rapids_bfs.cli import run_command
from rapids_bfs.report.console import console

TINY = ["--engines=cpu:sequential,scipy", "--num-sources=2", "--keep=kept.json"]


@pytest.fixture
def said(capsys, tmp_path, monkeypatch):
    """Runs ``compare`` in a folder of the test: the exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text('graphs = ["path:9", "karate"]\n')
    Path("half.toml").write_text('graphs = ["path:9", "missing.mtx"]\n')

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["rapids-bfs", "compare", *arguments])
        code = run_command(sys.argv[1:])
        return code, *capsys.readouterr()

    return run


def test_a_suite_is_compared_written_and_kept(said):
    outputs = {"json": "{", "csv": "graph,", "markdown": "**median", "latex": "% ", "html": "<!doctype"}
    code, out, err = said("--suite=tiny.toml", *TINY, *(f"--{kind}=out.{kind}" for kind in outputs))
    assert code == 0, err
    assert next(line for line in err.splitlines() if line[0].isdigit()).startswith("1 of 2: path:9, ")
    assert "about" in err.splitlines()[-2]
    assert str(Path("kept.json").absolute()) in err.splitlines()[0]
    for title in ("tiny: 2 graphs, 2 sources each", "median time", "speed-up over scipy", "GTEPS", "preparation"):
        assert title in out
    for kind, start in outputs.items():
        assert Path(f"out.{kind}").read_text().startswith(start)
    assert json.loads(Path("out.json").read_text())["command"].startswith("rapids-bfs compare --suite=tiny.toml")
    code, again, err = said("--suite=tiny.toml", *TINY)
    assert code == 0
    assert "2 of 2 graphs are there already" in err
    assert len(err.splitlines()) == 1
    assert again == out


def test_a_graph_that_fails(said):
    code, out, err = said("--suite=half.toml", *TINY)
    assert code == 2
    assert "2 of 2: missing.mtx, failed: missing.mtx does not exist" in err
    assert err.splitlines()[-1] == "error: 1 of 2 graphs failed, see above"
    assert out.splitlines()[-1] == "missing.mtx: missing.mtx does not exist"
    assert re.search(r"^ missing.mtx +- +- $", out, re.MULTILINE)


def test_no_graph_or_no_engine_that_could_run(said):
    Path("none.toml").write_text('graphs = ["missing.mtx", "nonsense:3"]\n')
    code, out, err = said("--suite=none.toml", *TINY)
    assert code == 2
    assert err.splitlines()[-1] == "error: none of the graphs of none could be compared"
    assert "nonsense:3: 'nonsense:3' is not a generator" in out


def test_a_wrong_answer_is_exit_code_1(said, monkeypatch):
    answer = rapids_bfs.engines.cpu.search.Sequential.answer

    def wrong(self, found):
        distances, predecessors = answer(self, found)
        return distances + (distances > 0), predecessors

    monkeypatch.setattr(rapids_bfs.engines.cpu.search.Sequential, "answer", wrong)
    code, out, _ = said("--suite=tiny.toml", *TINY)
    assert code == 1
    assert "WRONG" in out


def test_ctrl_c_writes_what_is_measured(said, monkeypatch):
    load = rapids_bfs.loading.load

    def interrupted(name, **options):
        if name == "karate":
            raise KeyboardInterrupt
        return load(name, **options)

    monkeypatch.setattr(rapids_bfs.comparison.suite_runner.compare_suite, "__kwdefaults__", kwdefaults(interrupted))
    code, out, err = said("--suite=tiny.toml", *TINY, "--csv=out.csv")
    assert code == 130
    assert err.splitlines()[-1] == "interrupted"
    assert "Interrupted: only finished searches are shown." in out
    assert "path:9" in Path("out.csv").read_text()
    assert "path:9" in json.loads(Path("kept.json").read_text())["rows"]


def kwdefaults(load):
    return rapids_bfs.comparison.suite_runner.compare_suite.__kwdefaults__ | {"load": load}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: give a graph, as in 'rapids-bfs compare rmat:16', or a suite with --suite"),
        (["karate", "--suite=gap"], "error: give either the graph karate or --suite gap, not both"),
        (["karate", "--scale=3", "--anew"], "error: --scale, --anew cannot be used with one graph: leave them out"),
        (["--suite=gap", "--source=3"], "error: --source cannot be used with a suite: leave it out"),
        (["--suite=gap", "--directed"], "error: --directed cannot be used with a suite: leave it out"),
        (["--suite=gap", "--scale=3"], "error: the graphs of gap have no scale: leave it out"),
        (["--suite=gpa"], "error: 'gpa' is not a suite: there are gap, dimacs10, synthetic, and files in TOML; did"),
        (["--suite=none.toml"], "error: none.toml does not exist"),
        (["--suite=tiny.toml", "--engines=scipi"], "error: unknown engine 'scipi'"),
        (
            ["--suite=tiny.toml", "--json=a", "--keep=a"],
            "error: --json a is also the file of --keep: give each its own",
        ),
        (["--suite=tiny.toml", "--latex=tiny.toml"], "error: tiny.toml exists"),
    ],
    ids=" ".join,
)
def test_what_is_wrong_is_said_in_one_line(said, arguments, message):
    code, out, err = said(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith(message)
    assert len(err.splitlines()) == 1


def test_one_graph_as_markdown_and_latex(said):
    code, _, err = said("karate", *TINY[:2], "--markdown=k.md", "--latex=k.tex")
    assert code == 0, err
    assert "| cpu:sequential | " in Path("k.md").read_text()
    assert r"\toprule" in Path("k.tex").read_text()


def test_tables_fit_a_terminal(said, monkeypatch):
    from rapids_bfs.cli import compare

    Path("some.toml").write_text('graphs = ["path:9", "smallworld:6", "karate"]\n')
    for width, wide in ((40, []), (40, ["--wide"]), (80, [])):
        text = StringIO()
        terminal = console(file=text, width=width, force_terminal=True, color_system=None)
        monkeypatch.setattr(compare, "table_console", lambda *outputs, terminal=terminal: terminal)
        engines = "--engines=cpu:sequential,scipy,networkx,igraph"
        assert said("--suite=some.toml", engines, "--num-sources=1", "--keep=kept.json", *wide)[0] == 0
        assert max(map(len, text.getvalue().splitlines())) <= width
        assert ("Hidden (--wide shows): GTEPS" in text.getvalue()) == (not wide)
        assert ("preparation, ms\n" in text.getvalue()) == bool(wide)
