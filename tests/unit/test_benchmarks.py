"""The program that measures, on tiny graphs, and the tables of README and docs that it renders."""

import json
import re
import sys

import networkx as nx
import pytest
from readme import README, ROOT, SITE

sys.path.append(str(ROOT))  # behind what is installed

from benchmarks import __main__ as program
from benchmarks import cases, cpu
from benchmarks.record import RESULTS, read
from benchmarks.tables import MEASURED, markdown, pages, rendered
from benchmarks.timing import Seconds, in_fair_turns, repeated, summary

PAGE = SITE / "benchmarks.md"
KEPT = sorted(RESULTS.glob("*.json"))
MEASURED_PAGES = [page for page in pages() if MEASURED.search(page.read_text())]


def test_list_names_every_case_and_what_it_needs(capsys):
    assert program.main(["--list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines.keys() == program.CASES.keys()
    assert all(need in lines[name] for name, case in program.CASES.items() for need in case.needs)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "invalid choice: 'nonsense'"),
        ([], "name a case"),
        (["--all"], "--json-folder"),
        (["batch-cpu", "--json", "/no/folder/x.json"], "no folder /no/folder"),
        (["fast"], "fast cannot run here: it needs GPU: none"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, said, monkeypatch, capsys):
    monkeypatch.setitem(cases.NEEDS, "GPU", lambda: "none")
    with pytest.raises(SystemExit, match="2"):
        program.main(arguments)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", program.CASES)
def test_help(name, capsys):
    with pytest.raises(SystemExit, match="0"):
        program.main([name, "--help"])
    assert "--json FILE" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["batch-cpu", "rmat:6"],
        ["filters-cpu", "rmat:8"],
        ["networkx", "--nodes", "40", "--small-nodes", "20"],
        ["cpu", "--only", "karate", "--seconds", "0.01", "--cores", "1"],
        ["suite", "--scales", "4", "--engines", "cpu,cpu:sequential,scipy", "--sources", "1"],
        ["engines", "rmat:6", "--engines", "cpu,scipy", "--sources", "2"],
        ["model", "--largest", "8", "--ranks", "16", "--sources", "1"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_case_writes_its_record_and_prints_its_table(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", set())
    path = tmp_path / "found.json"
    assert program.main([*arguments, "--json", str(path)]) == 0
    record = read(path)
    about = record["states"][0] if "states" in record else record
    assert {"date", "machine", "versions"} <= about.keys()
    assert markdown(program.CASES[arguments[0]].table(record)) in capsys.readouterr().out


def test_a_suite_with_other_threads_is_measured_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    arguments = ["suite", "--scales", "2", "--engines", "scipy", "--sources", "1"]
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert program.main([*arguments, "--json", str(tmp_path / "found.json")]) == 0
    assert len(list((tmp_path / "rapids_bfs" / "benchmarks").iterdir())) == 2


def test_bad_input_is_one_line(capsys):
    assert program.main(["batch-cpu", "nonsense"]) == 1
    assert capsys.readouterr().err.startswith("batch-cpu: ")


def test_all_skips_what_the_machine_lacks(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(cases.NEEDS, "GPU", lambda: "none")
    monkeypatch.setattr(program, "CASES", {name: case for name, case in program.CASES.items() if "GPU" in case.needs})
    assert program.main(["--all", "--json-folder", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(program.CASES)
    assert all("skipped, it needs" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


def case_of(path):
    """The case that wrote a file."""
    machine, _, name = path.stem.partition("_")
    cases = [case for case in program.CASES.values() if bool(case.needs) == (machine != "cpu")]
    return {case.file or case.name.replace("-", "_"): case for case in cases}[name]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_every_result_is_rendered(path):
    for view in case_of(path).tables().values():
        assert markdown(view(read(path))).count("\n") > 2


@pytest.mark.parametrize("page", MEASURED_PAGES, ids=lambda page: page.stem)
def test_measured_tables_are_those_of_their_json(page):
    text = page.read_text()
    assert rendered(text, program.VIEWS) == text, "python -m benchmarks --render"
    table = MEASURED.search(text)[0]
    changed = re.sub(r"\d+\.\d+", "0.125", table, count=1)
    assert changed != table
    assert rendered(text.replace(table, changed), program.VIEWS) == text


@pytest.mark.parametrize(("page", "others"), [(README, 1), (PAGE, 1)], ids=["README", "benchmarks"])
def test_every_table_is_rendered(page, others):
    """But that of the engines in README, and the index of the benchmarks."""
    text = page.read_text()
    assert page in MEASURED_PAGES
    assert len(re.findall(r"^\|---", text, re.MULTILINE)) == len(MEASURED.findall(text)) + others


def test_every_result_is_on_the_page_of_benchmarks_with_its_date():
    rows = re.findall(r"^\| .*\{download\}.*", PAGE.read_text(), re.MULTILINE)
    for path in KEPT:
        row = next(row for row in rows if f"`{path.name} " in row)
        dates = re.findall(r'"(?:date|started)": "(\d{4}-\d\d-\d\d)', path.read_text())
        assert not dates or any(date in row for date in dates), path.name


def test_a_file_keeps_what_other_machines_have_measured():
    def found(cores, ms):
        row = {"graph": "karate", "question": "search", "asked": "cpu", "median_ms": ms}
        return {"processor": "P", "cores": cores, "state": "quiet", "date": "today", "rows": [row]}

    record = {}
    for each in (found(2, 1.0), found(16, 2.0), found(2, 3.0)):
        record = cpu.place(json.loads(json.dumps(record)), each)
    assert [(each["cores"], [row["median_ms"] for row in each["rows"]]) for each in record["states"]] == [
        (2, [3.0]),
        (16, [2.0]),
    ]


def test_turns_are_fair_and_leave_out_who_fails():
    failed = []
    calls = {"a": lambda: Seconds([0.001, 0.002]), "b": lambda: None, "c": lambda: 1 / 0}
    times = in_fair_turns(calls, 0, 3, 2.0, failed=lambda name, error: failed.append(name))
    assert times["a"][:2] == [1.0, 2.0]
    assert len(times["b"]) == 3
    assert failed == ["c"]


def test_repeated_and_summary():
    assert len(repeated(lambda: 7, 5)[0]) == 5
    assert repeated(lambda: 7, 5, enough_s=0.0, least=0)[1] is None
    assert summary([4.0, 1.0, 3.0, 2.0, 5.0]) == {"median": 3.0, "low": 2.0, "high": 4.0, "min": 1.0, "max": 5.0}
    assert summary([2.0])["low"] == 2.0
