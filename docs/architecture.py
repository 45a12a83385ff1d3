"""Draw the layers of docs/architecture.md: python docs/architecture.py

The layers and the imports between them are those that tests/unit/test_arrows.py checks.
"""

import sys
from pathlib import Path

IMAGE = Path(__file__).parent / "images" / "layers.svg"
BLUE, GREY = "#0072B2", "#8C8C8C"
ROW, NAMES, PURPOSE, DOTS, COLUMN = 24, 34, 250, 600, 18.5

# What each layer is for, by the first of its names.
PURPOSES = {
    "cli": "the command line, the pytest plugin, compiling ahead",
    "": "the names that users import",
    "nx": "NetworkX backend, drop-in for cuGraph, assertions",
    "comparison": "engines side by side, Graph500",
    "algorithms": "bfs and the questions built on it",
    "loading": "any input becomes a graph",
    "distributed": "graphs over several devices",
    "engines": "ways to search a graph, by name",
    "validation": "Graph500's rules",
    "result": "distances and predecessors",
    "trace": "levels of a search",
    "generators": "random and bundled graphs",
    "adapters": "formats, to and from a graph",
    "graph": "immutable CSR with the user's ids",
    "report": "tables, plots, the HTML page",
    "_core": "devices, memory, threads, checks",
    "kernels": "arrays in, arrays out",
}


def picture(layers, imports):
    """The SVG: a row for each layer, and in the row a dot in the column of each layer that it imports.

    ``imports`` is a set of pairs of places in ``layers``.
    """
    top = 2 * ROW
    width, height = _column(len(layers)), top + ROW * len(layers) + 10
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{width:g}" height="{height}" fill="white"/>',
        _text(NAMES, ROW, "layer"),
        _text(PURPOSE, ROW, "what it is for"),
        _text(DOTS, ROW, "imports the layers"),
    ]
    for place, layer in enumerate(layers):
        middle = top + ROW * place + ROW / 2
        names = ", ".join(name or "rapids_bfs" for name in layer if name != "__main__")
        if place % 2 == 0:
            lines.append(f'<rect y="{middle - ROW / 2:g}" width="{width:g}" height="{ROW}" fill="#F2F2F2"/>')
        lines += [
            _text(NAMES - 10, middle + 4, place + 1, ' text-anchor="end"'),
            _text(NAMES, middle + 4, names, ' font-weight="bold"'),
            _text(PURPOSE, middle + 4, PURPOSES[layer[0]]),
            _text(_column(place), top - 6, place + 1, ' text-anchor="middle" font-size="10"'),
            f'<circle cx="{_column(place):g}" cy="{middle:g}" r="3" fill="none" stroke="{GREY}"/>',
        ]
        found = sorted(other for one, other in imports if one == place)
        lines += [f'<circle cx="{_column(other):g}" cy="{middle:g}" r="4.5" fill="{BLUE}"/>' for other in found]
    return "\n".join([*lines, "</svg>", ""])


def _column(place):
    return DOTS + COLUMN * (place + 0.5)


def _text(x, y, text, style=""):
    return f'<text x="{x:g}" y="{y:g}"{style}>{text}</text>'


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "unit"))
    from test_arrows import LAYERS, all_arrows, between_layers

    IMAGE.write_text(picture(LAYERS, between_layers(all_arrows())))
