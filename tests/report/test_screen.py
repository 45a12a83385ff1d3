"""What is printed: no digit is lost at any width, and what is counted is counted in English."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from io import StringIO
from time import sleep

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import as_graph, bfs, compare
from rapids_bfs._core.formatting import BYTES, counted, graph_size, number, printable, size
from rapids_bfs.cli.info import info_tables
from rapids_bfs.cli.streams import with_progress
from rapids_bfs.comparison.records import Comparison, EngineRuns, Run
from rapids_bfs.report.console import console, show
from rapids_bfs.report.documents import in_terminal
from rapids_bfs.report.table import comparison_tables

GRAPH = as_graph("karate")
NAMES = ["scipy", "cpu", "cupy:direction-optimizing", "pylibcugraph:direction-optimizing"]


@st.composite
def comparisons(draw):
    times = draw(st.dictionaries(st.sampled_from(NAMES), st.lists(st.floats(1e-4, 1e7), min_size=1), min_size=1))
    runs = [
        EngineRuns(
            name, None, 12345.6, 1e-3, [7.0], 2**33, 1, [Run(s, ms, 34, 3, 78, "valid") for s, ms in enumerate(all)]
        )
        for name, all in times.items()
    ]
    return Comparison(GRAPH, runs, baseline=runs[0].engine)


def printed(comparison, width, **options):
    text = StringIO()
    show(in_terminal(comparison_tables(comparison.to_dict()), **options), out=console(file=text, width=width))
    return text.getvalue()


def cells(text):
    """By column and engine, from the tables that it is printed in."""
    found = {}
    for row in text.splitlines()[1:]:
        fields = re.split(r"\s{2,}", row.strip())
        if fields[0] == "engine":
            heads = fields
        elif row.strip(" \N{BOX DRAWINGS LIGHT HORIZONTAL}"):
            for head, field in zip(heads, fields, strict=True):
                found.setdefault(head, {})[fields[0]] = field
    return found


def widest(table):
    return max(map(len, table.splitlines()[1:]))


@settings(max_examples=40)
@given(comparisons(), st.integers(20, 250), st.booleans())
def test_no_digit_is_lost_at_any_width(comparison, width, wide):
    text = printed(comparison, width, wide=wide)
    whole = printed(comparison, 1000)
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    table, _, hidden = text.partition("Hidden: ")
    shown, every = cells(table), cells(whole)
    assert list(shown.items()) == list(every.items())[: len(shown)]  # the first columns, each whole
    assert list(every)[:5] == ["engine", "median ms", "range ms", f"x {comparison.baseline}", "valid"]
    assert len(shown) >= (len(every) if wide else 5)
    assert " ".join(hidden.split()) == ", ".join(list(every)[len(shown) :])
    narrowest = printed(comparison, 20, wide=wide).partition("Hidden: ")[0]
    assert widest(table) <= max(width, widest(narrowest))


def test_a_narrow_terminal_gets_what_matters_and_a_pipe_everything(tmp_path):
    command = [sys.executable, "-m", "rapids_bfs", "compare", "karate", "--engines", "cpu", "--source", "0"]
    with (tmp_path / "table").open("w") as out:
        subprocess.run(command, stdout=out, timeout=600, check=True, env=os.environ | {"COLUMNS": "40"})
    text = (tmp_path / "table").read_text()
    assert text.startswith("karate: 34 vertices, 78 undirected edges, 1 source\n")
    for column in ("median ms", "range ms", "x cpu", "valid", "MTEPS", "prepare ms", "warm-up ms", "reached", "depth"):
        assert column in text


def test_engines_missing_for_one_reason_are_one_line():
    runs = [
        EngineRuns(name, reason) for name, reason in zip("abcd", ["no GPU", "no SciPy", "no GPU", None], strict=True)
    ]
    assert printed(Comparison(GRAPH, runs), 80).splitlines()[1:] == ["a, c: no GPU", "b: no SciPy"]


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize(
    "arguments", [["info"], ["compare", "karate", "--engines=cpu,scipy,cupy", "--source=0"], ["trace", "karate"]]
)
def test_a_terminal_breaks_no_word(width, arguments):
    program = f"{sys.executable} -m rapids_bfs {' '.join(arguments)}"
    environment = os.environ | {"COLUMNS": str(width), "NO_COLOR": "1"}
    command = ["script", "-qc", program, "/dev/null"]
    nothing = {"stdin": subprocess.DEVNULL, "timeout": 600}  # a terminal would show what is typed meanwhile
    done = subprocess.run(command, env=environment, capture_output=True, text=True, **nothing)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.stdout).replace("\r\n", "\n").rpartition("\r")[2]
    assert all(len(row.rstrip()) <= width for row in shown.splitlines())
    if arguments[0] != "trace":
        assert {"cupy", "no", "CUDA", "device"} <= set(re.split(r"[\s,:]+", shown))


def test_notes_can_be_read_on_white():
    """Yellow, bright or not, cannot."""
    terminal = console(file=StringIO(), force_terminal=True, color_system="standard", _environ={})
    show(info_tables(), out=terminal)
    assert not re.search(r"\x1b\[([0-9]+;)*[39]3m", terminal.file.getvalue())


def test_a_comparison_shows_itself_as_a_table_of_80_columns():
    comparison = compare("karate", num_sources=2, engines="cpu,scipy")
    assert repr(comparison) == str(comparison) == printed(comparison, 80).rstrip()
    assert max(map(len, repr(comparison).splitlines())) <= 80
    assert "median ms" in repr(comparison)


class Cells(HTMLParser):
    """The text of each cell and paragraph of a notebook's table. Nothing in it is coloured or active."""

    def __init__(self, shown):
        super().__init__()
        self.texts = []
        self.feed(shown._repr_html_().encode().decode())
        self.close()

    def handle_starttag(self, tag, attributes):
        assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
        assert attributes in ([], [("scope", "col")], [("scope", "row")])
        if tag in {"caption", "th", "td", "p"}:
            self.texts.append("")

    def handle_data(self, data):
        if data.strip():
            self.texts[-1] += data


NASTY = "<script>a&amp;b</script>\"'\x1b[31m\n\ud800 ü"


@pytest.mark.parametrize("devices", [None, "cpu:2"])
def test_notebooks_show_names_and_ids_as_they_are(devices):
    graph = as_graph({NASTY: ["b"], "b": []}, name=NASTY, devices=devices)
    result = bfs(graph, NASTY, trace=True)
    runs = EngineRuns("<engine>", None, runs=[Run(NASTY, 1.0, 2, 1, 1, "<wrong>")])
    comparison = Comparison(graph, [runs, EngineRuns("b", "<missing>")], baseline="<engine>")
    name = printable(NASTY)
    shown = Cells(graph).texts
    assert shown[0] == name
    assert dict(zip(shown[1::2], shown[2::2], strict=True))["edges"] == "1 directed"
    assert Cells(result).texts == [f"{name}: 2 of 2 vertices reached", "distance", "vertices", "0", "1", "1", "1"]
    assert Cells(result.trace).texts[1:5] == ["level", "frontier vertices", "frontier edges", "newly reached"]
    assert {"<engine>", "x <engine>", "NO", "b: <missing>", f"<engine>, source {name}: <wrong>"} <= {
        *Cells(comparison).texts
    }


def test_a_notebook_shows_the_first_and_the_last_of_many_levels():
    result = bfs("path:500", 0, trace=True)
    for shown, last in ((result, 499), (result.trace, 500)):
        texts = Cells(shown).texts
        assert "\N{HORIZONTAL ELLIPSIS}" in texts
        assert str(last) in texts
        assert len(shown._repr_html_().splitlines()) < 80


@given(st.floats(1e-9, 1e9))
def test_numbers_keep_three_digits(value):
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=6e-3, abs=6e-7)
    assert "e" not in number(value)


@given(st.integers(0, 2**69))
def test_sizes_in_the_unit_that_suits_them(count):
    figure, unit = size(count).split(" ")
    power = BYTES.index(unit) if unit in BYTES else 0
    assert float(figure.replace(",", "")) * 1024**power == pytest.approx(count, rel=6e-3)
    assert len(figure) <= 5


def test_a_long_step_moves_on_a_terminal(monkeypatch):
    text = StringIO()
    terminal = console(file=text, force_terminal=True, width=100)
    monkeypatch.setattr("rapids_bfs.cli.streams.messages", terminal)

    def work(progress):
        progress(1, 4, "cpu: prepare and warm up")
        while len(set("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") & set(text.getvalue())) < 3:
            sleep(0.01)

    with_progress(work, remaining=True)
    assert "1/4" in text.getvalue()
    assert re.search(r"\d:\d\d left", text.getvalue())


def test_counts_in_english():
    assert (counted(0, "source"), counted(1, "source"), counted(1000, "source")) == (
        "0 sources",
        "1 source",
        "1,000 sources",
    )
    assert graph_size(1, 1, False) == "1 vertex, 1 undirected edge"
    assert graph_size(2, 0) == "2 vertices, 0 edges"
    assert repr(as_graph([(0, 1)])) == "<Graph 'edges': 2 vertices, 1 directed edge>"
