"""Pictures and pages of suites."""

import json

import pytest
from browser import CHROMIUM, Page
from pictures import assert_nothing_is_cut_off

from rapids_bfs import compare_suite
from rapids_bfs.report.suite import suite_page

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (apt install chromium)")
HOSTILE = "</script><img src=x onerror=alert(1)>&$_:1"


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    graphs = ["path:9", "grid:5", "karate", "rmat:6", HOSTILE]
    keep = tmp_path_factory.mktemp("suite") / "kept.json"
    return compare_suite(graphs, engines="cpu,cpu:sequential,scipy,networkx", num_sources=2, keep=keep)


@pytest.fixture(scope="module")
def file(suite, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "suite.html"
    suite.to_html(path)
    return path


def test_the_plot_has_a_line_for_each_engine_and_a_place_for_each_graph(suite):
    figure = suite.plot()
    assert_nothing_is_cut_off(figure)
    axes = figure.axes[0]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["cpu", "cpu:sequential", "scipy", "networkx"]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(suite)
    for line, name in zip(axes.get_lines(), ("cpu", "cpu:sequential", "scipy", "networkx"), strict=True):
        ratios = [
            engine["ratio_to_baseline"]
            for graph in suite.values()
            for engine in graph["engines"]
            if engine["engine"] == name
        ]
        assert line.get_ydata().tolist() == ratios


def test_the_page_has_a_mark_for_each_engine_and_graph(suite):
    text = suite_page(suite.to_dict())
    assert text.count("<title>") == 1 + 4 * len(suite)
    for name, (mean, _) in suite.geometric_means.items():
        assert f"<code>{name}</code> {mean:.2f}"[:20] in text or name == suite.baseline
    assert HOSTILE not in text


def test_the_page_says_whether_all_answers_are_valid(suite, tmp_path):
    assert "All 32 answers are valid by the rules of Graph500." in suite_page(suite.to_dict())
    one = compare_suite(["path:9"], engines="cpu", num_sources=1, keep=tmp_path / "kept.json").to_dict()
    assert "The answer is valid by the rules of Graph500." in suite_page(one)
    one["graphs"][0]["comparison"]["engines"][0]["runs"][0]["verdict"] = "root: 3 has no predecessor"
    assert "by the rules of Graph500" not in suite_page(one)


def test_a_notebook_shows_every_table(suite):
    assert suite._repr_html_().count("<table>") == 5


@needs_chromium
@pytest.mark.parametrize("width", [1280, 400])
def test_it_opens_legibly_and_without_a_complaint(file, suite, width, tmp_path):
    with Page(tmp_path) as browser:
        browser.open(file, width=width)
        assert browser.complaints() == []
        assert browser.requests() == [file.resolve().as_uri()]
        assert HOSTILE in browser.run("document.body.innerText")
        assert browser.run("document.documentElement.scrollWidth") <= width
        marks = browser.run(
            "[...document.querySelectorAll('.row .shape')].map(e => e.getBoundingClientRect())"
            ".map(box => [box.left, box.right, box.width])"
        )
        assert len(marks) == 4 * len(suite)
        assert all(0 <= left < right <= width and wide > 4 for left, right, wide in marks)
        found = browser.run("JSON.parse(document.getElementById('comparison').textContent)")
        assert found == json.loads(json.dumps(suite.to_dict()))
        browser.click("h2:nth-of-type(3) + .figures th:nth-child(2) button")
        last = browser.run("document.querySelector('h2:nth-of-type(3) + .figures tbody tr:last-child').textContent")
        assert last.startswith("geometric mean")
