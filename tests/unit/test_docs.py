"""The site builds without a warning, its links lead somewhere, and every public name is in it."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import CHROMIUM, Page

import rapids_bfs
import rapids_bfs.engines
import rapids_bfs.testing
from rapids_bfs.nx.functions import FUNCTIONS

for module in ("sphinx", "myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx_copybutton"):
    pytest.importorskip(module, reason="the site's tools are not installed: pip install 'rapids-bfs[docs]'")

DOCS = Path(__file__).parents[2] / "docs"
PATIENCE = 1800  # seconds


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", folder / "doctrees"]
    command = [sys.executable, "-m", "sphinx", *options, DOCS, folder / "html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


class Links(HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[name] for name in ("href", "src") if found.get(name)]
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}


def test_links_inside_lead_somewhere(site):
    pages = {path: Links(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    assert len(pages) >= 30
    broken = []
    for path, page in pages.items():
        for link in map(urlsplit, page.links):
            target = (path.parent / unquote(link.path)).resolve() if link.path else path
            if link.scheme or link.netloc:
                continue
            if not target.exists() or (link.fragment and target in pages and link.fragment not in pages[target].places):
                broken.append((path.relative_to(site), link.geturl()))
    assert broken == []


def test_every_public_name_is_documented(site):
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as stream:
        inventory = InventoryFile.load(stream, "", lambda base, name: name)
    documented = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    public = [f"rapids_bfs.{name}" for name in rapids_bfs.__all__ if not name.startswith("_")]
    public += [f"rapids_bfs.cugraph.{name}" for name in ("bfs", "bfs_edges", "dask.bfs")]
    public += [f"rapids_bfs.engines.{name}" for name in ("Engine", "Traversal", "register")]
    public += [f"rapids_bfs.testing.{name}" for name in ("assert_valid_bfs", "assert_same_distances", "graphs")]
    assert [name for name in public if name not in documented] == []


def test_every_notebook_has_a_page(site):
    notebooks = [path.stem for path in (DOCS.parent / "notebooks").glob("*.ipynb")]
    assert notebooks
    assert [name for name in notebooks if not (site / "notebooks" / f"{name}.html").exists()] == []


def test_every_function_of_networkx_can_be_searched_for():
    page = (DOCS / "guide" / "networkx.md").read_text()
    assert [name for name in FUNCTIONS if f"`{name}`" not in page] == []


def test_the_site_links_to_its_repository_and_has_an_icon(site):
    links = Links(site / "index.html").links
    assert "https://github.com/rapids-bfs/rapids_bfs" in links
    assert "_static/favicon.svg" in links


TOO_WIDE = "(article => article && article.scrollWidth > article.clientWidth)(document.querySelector('.bd-article'))"
SPLIT = """[...document.querySelectorAll('.bd-article code .pre')].filter(word => {
    const range = document.createRange()
    range.selectNodeContents(word)
    return word.innerText.length < 20 && range.getClientRects().length > 1
}).map(word => word.innerText)"""
CUT = """[...document.querySelectorAll('.bd-article pre')].filter(
    code => !code.closest('.highlight-text') && code.scrollWidth > code.clientWidth).map(code => code.innerText)"""
CANNOT_BE_COPIED = """[...document.querySelectorAll('.bd-article pre')].filter(
    code => !code.closest('.highlight-text') && !code.parentElement.querySelector('.copybtn')).length"""
UNREADABLE = """[...document.querySelectorAll('.bd-article p')].filter(text => {
    const light = colour => {
        const [r, g, b] = colour.match(/[0-9.]+/g).map(part => (part / 255) ** 2.2)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
    }
    let behind = text
    while (/^rgba.* 0\\)$/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement
    const ratio = light(getComputedStyle(text).color) / light(getComputedStyle(behind).backgroundColor)
    return Math.max(ratio, 1 / ratio) < 4.5
}).map(text => text.innerText)"""
WHITE_CARDS = """[...document.querySelectorAll('.card')].filter(
    card => getComputedStyle(card).backgroundColor == 'rgb(255, 255, 255)').length"""


@pytest.mark.parametrize(
    ("width", "scheme", "mistakes"),
    [(390, "light", [TOO_WIDE, SPLIT]), (1200, "dark", [CUT, CANNOT_BE_COPIED, UNREADABLE, WHITE_CARDS])],
    ids=["phone", "dark"],
)
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (apt install chromium)")
def test_pages_look_right(width, scheme, mistakes, site, tmp_path):
    """What is wider than a phone, a table or a line of code, scrolls inside its page."""
    wrong = {}
    with Page(tmp_path) as browser:
        for path in sorted(site.rglob("*.html")):
            if "_static" not in path.parts:
                browser.open(path, width=width, scheme=scheme)
                wrong |= {(path.name, script): found for script in mistakes if (found := browser.run(script))}
    assert wrong == {}
