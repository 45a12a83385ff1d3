"""The site: sphinx-build -W --keep-going -b html docs docs/_build"""

import sys
from pathlib import Path

import rapids_bfs

sys.path.append(str(Path(__file__).parent / "_ext"))

project = "rapids_bfs"
author = "rapids_bfs maintainers"
copyright = author
version = release = rapids_bfs.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton", "notebook_pages"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

nitpicky = True
# Docstrings write `name` for whatever is code; where it is one of ours it becomes a link.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*"), ("py:class", r"(Engine|typing|collections|pathlib|os|numpy|pd)\b.*")]
autodoc_mock_imports = ["pytest"]  # of the extra `test`
autodoc_typehints = "none"  # the types are in the docstrings
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "rapids_bfs"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_sourcelink = False
html_theme_options = {
    "github_url": "https://github.com/rapids-bfs/rapids_bfs",
    "show_prev_next": True,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    page: []
    for page in ("start", "notebooks/*", "benchmarks", "how-it-works", "architecture", "contributing", "changelog")
}

copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"  # code, not what it prints
copybutton_prompt_text = ">>> |\\.\\.\\. "
copybutton_prompt_is_regexp = True
