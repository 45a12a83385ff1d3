"""The committed notebooks as pages, with the outputs that they were committed with; nothing is run."""

import base64
import json
import re
from itertools import groupby
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
INTRODUCTION = """# Notebooks

Four notebooks, shown with the outputs they were committed with; each names the machine it ran on. All of them run with
and without a GPU. To run them yourself: `pip install -e '.[notebooks]' && jupyter lab notebooks`.
"""


def cells(notebook):
    """The cells as pairs of the source and the outputs, None for text."""
    for cell in json.loads(notebook.read_text())["cells"]:
        yield "".join(cell["source"]), cell.get("outputs")


def page(notebook, images):
    """A notebook in MyST. Its pictures go to the folder ``images``, which lies beside the page."""
    parts = ["---\nhtml_theme.sidebar_secondary.remove: true\n---"]  # room for lines of code
    for place, (source, outputs) in enumerate(cells(notebook)):
        parts.append(source if outputs is None else fenced(source, "python"))
        for stream, group in groupby(outputs or [], key=lambda output: output.get("name")):
            if stream:  # pieces of one text
                parts.append(fenced("".join("".join(output["text"]) for output in group).rstrip(), "text"))
            else:
                parts += [shown(output["data"], images / f"{notebook.stem}-{place}.png") for output in group]
    return "\n\n".join(filter(None, parts)) + "\n"


def shown(data, image):
    """The picture, the code, the table or the text that a cell displays."""
    if "image/png" in data:
        image.write_bytes(base64.b64decode(data["image/png"]))
        return f"![The plot that the cell above draws]({image.parent.name}/{image.name})"
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    if "text/html" in data:
        html = "".join(data["text/html"])
        return fenced(html, "{raw} html") if re.sub("<[^>]*>", "", html).strip() else ""
    return fenced("".join(data["text/plain"]), "text")


def fenced(text, language):
    return f"````{language}\n{text}\n````"


def card(notebook, images):
    """A notebook in the gallery: its last picture, its title and its first paragraph."""
    title, text = next(cells(notebook))[0].split("\n\n")[:2]
    title = title.removeprefix("# ")
    picture = max(images.glob(f"{notebook.stem}-*.png"), key=lambda path: int(path.stem.rpartition("-")[2]))
    link = f"({notebook.stem}.md)"
    return f"""
:::{{container}} card
[![A plot from the notebook]({images.name}/{picture.name})]{link}

**[{title}]{link}**

{text}
:::
"""


def write_pages(app, config):
    folder = Path(app.srcdir) / "notebooks"
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    notebooks = sorted(NOTEBOOKS.glob("*.ipynb"))
    pages = {path.stem: page(path, images) for path in notebooks}
    cards = "".join(card(path, images) for path in notebooks)
    names = "\n".join(pages)
    pages["index"] = (
        f"{INTRODUCTION}\n::::{{container}} gallery\n{cards}::::\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def setup(app):
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
