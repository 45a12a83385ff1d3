"""The report page, opened in a real browser."""

import json
import time

import pytest
from browser import CHROMIUM, Page
from misbehaving import registered_too

from rapids_bfs import compare
from rapids_bfs.engines.cpu import CPU
from rapids_bfs.engines.cpu.search import Sequential
from rapids_bfs.report.page import page
from rapids_bfs.trace import Step

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (apt install chromium)")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)> & \"quoted\""


class Watched(CPU):
    """Notes its levels, as the GPU engines do."""

    name = "watched"

    def prepare(self, graph, algorithm):
        class Noting(Sequential):
            traces = True

            def answer(self, found):
                distances, predecessors = super().answer(found)
                directions = ["top-down", "bottom-up"] * (distances.max() + 1)
                self.steps = [Step(direction, 0.25) for direction in directions[: distances.max()]]
                return distances, predecessors

        return Noting(graph)


class Hostile(CPU):
    name = "hostile"

    def unavailable(self):
        return HOSTILE


@pytest.fixture(scope="module")
def record():
    """A comparison on rmat:16 with engines that run, one that is traced, and one that is not to be trusted."""
    with registered_too(Watched(), Hostile()):
        made = compare("rmat:16", num_sources=16, engines="cpu,cpu:sequential,scipy,watched,hostile")
    return json.loads(json.dumps(made.to_dict()))


@pytest.fixture(scope="module")
def file(record, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page(record), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Page(tmp_path_factory.mktemp("profile")) as page:
        yield page


def names(browser):
    return browser.run("[...document.querySelectorAll('#figures tbody th')].map(cell => cell.textContent)")


def test_a_comparison_in_which_nothing_ran_has_a_page():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CPU, "unavailable", lambda self: "out for lunch")
        assert "out for lunch" in page(compare("karate", num_sources=1, engines="cpu").to_dict())


def test_a_search_that_stops_at_its_source_has_a_page():
    assert "Levels" not in page(compare("karate", sources=[0], engines="cpu", depth_limit=0).to_dict())


def test_a_search_of_many_levels_makes_no_large_page(record):
    levels = list(range(1, 100_001))
    trace = dict.fromkeys(("level", "frontier_vertices", "frontier_edges", "newly_reached"), levels)
    trace |= {"direction": [None] * len(levels), "milliseconds": [0.01] * len(levels)}
    engines = [engine | {"trace": trace if engine["engine"] == "watched" else None} for engine in record["engines"]]
    with_trace, without = (len(page(record | {"engines": each})) for each in (engines, record["engines"]))
    assert with_trace - without < len(json.dumps(trace)) + 100_000


@needs_chromium
class TestInChromium:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1280, 400])
    def test_it_opens_without_a_complaint_or_a_request(self, browser, file, width, scheme, tmp_path):
        browser.open(file, width=width, scheme=scheme)
        assert browser.complaints() == []
        assert browser.requests() == [file.resolve().as_uri()]
        assert browser.run("document.title") == "rmat:16:16: BFS side by side"
        assert HOSTILE in browser.run("document.body.innerText")
        browser.screenshot(tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 20_000
        assert file.stat().st_size < 2_000_000

    @pytest.mark.parametrize("width", [1280, 400])
    def test_it_is_legible(self, browser, file, width):
        browser.open(file, width=width)
        assert browser.run("document.documentElement.scrollWidth") <= width
        smallest = browser.run(
            "Math.min(...[...document.querySelectorAll('body *')].filter(e => e.innerText)"
            ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
        )
        assert smallest >= 11
        narrow = browser.run(
            "[...document.querySelectorAll('svg[role=img]')].map(e => e.getBoundingClientRect().width)"
        )
        assert min(narrow) > 250
        outside = browser.run(
            "[...document.querySelectorAll('.value, .name, .ticks span, figcaption, dd')]"
            ".filter(e => !e.closest('.scroll')).map(e => [e.textContent, e.getBoundingClientRect()])"
            f".filter(([_, box]) => box.left < 0 || box.right > {width}).map(([text, _]) => text)"
        )
        assert outside == []

    def test_light_and_dark_differ_and_paper_is_white(self, browser, file):
        def colours():
            return browser.run(
                "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
            )

        browser.open(file, scheme="light")
        light = [brightness(colour) for colour in colours()]
        browser.open(file, scheme="dark")
        dark = [brightness(colour) for colour in colours()]
        assert light[0] > 240 > 60 > light[1]
        assert dark[0] < 60 < 200 < dark[1]
        dark_paper = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.ask("Emulation.setEmulatedMedia", media="print", features=dark_paper)
        assert [brightness(colour) for colour in colours()] == light

    def test_the_table_sorts_on_a_click(self, browser, file, record):
        browser.open(file)
        ran = [engine for engine in record["engines"] if engine["run_ms"]]
        by_median = [engine["engine"] for engine in sorted(ran, key=lambda engine: engine["median_ms"])]
        by_prepare = [engine["engine"] for engine in sorted(ran, key=lambda engine: engine["prepare_ms"])]
        assert names(browser) == by_median
        browser.click("#figures th:nth-child(1) button")
        assert names(browser) == sorted(by_median)
        browser.click("#figures th:nth-child(1) button")
        assert names(browser) == sorted(by_median)[::-1]
        browser.click("#figures th:nth-child(2) button")
        assert names(browser) == by_median
        heads = browser.run("[...document.querySelectorAll('#figures thead th')].map(cell => cell.textContent)")
        browser.click(f"#figures th:nth-child({1 + heads.index('prepare ms')}) button")
        assert names(browser) == by_prepare
        assert browser.run("document.querySelector('[aria-sort]').textContent") == "prepare ms"
        assert browser.complaints() == []

    def test_everything_is_in_it_and_can_be_saved(self, browser, file, record):
        browser.open(file)
        assert browser.run("JSON.parse(document.getElementById('comparison').textContent)") == record
        browser.run("document.getElementById('save').click()")
        assert browser.run("document.getElementById('save').href").startswith("blob:")

    def test_the_levels_are_drawn_in_their_direction(self, browser, file, record):
        browser.open(file)
        traces = [engine["trace"] for engine in record["engines"] if engine["trace"]]
        assert len(traces) == 2  # of cpu and watched
        for direction in ("top-down", "bottom-up"):
            drawn = browser.run(f"document.querySelectorAll('.charts figure:first-child rect.{direction}').length")
            assert drawn == sum(trace["direction"].count(direction) for trace in traces) > 0

    def test_it_prints(self, browser, file):
        browser.open(file)
        pdf = browser.pdf()
        assert pdf.startswith(b"%PDF")
        assert 1 <= pdf.count(b"/Type /Page\n") <= 4
        assert len(pdf) > 20_000

    def test_a_page_that_fails_is_seen(self, browser, tmp_path):
        """The checks above can fail: this page throws, logs and loads."""
        bad = tmp_path / "bad.html"
        bad.write_text("<script>console.error('no'); document.write('<img src=gone.png>'); missing()</script>")
        browser.open(bad)
        deadline = time.monotonic() + 300
        while len(browser.complaints()) < 3 and time.monotonic() < deadline:
            browser.run("0")
        kinds = {event["method"] for event in browser.complaints()}
        assert {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Network.loadingFailed"} <= kinds
        assert len(browser.requests()) == 2


def brightness(colour):
    """The mean of red, green and blue in "rgb(r, g, b)"."""
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3
