"""Draw kept comparisons for README and docs: python benchmarks/plot_results.py [JSON ...]

Each JSON that `rapids-bfs compare --json` wrote becomes a PNG beside it.
"""

import json
import sys
from pathlib import Path

from rapids_bfs.report.plots import plot_comparison

DRAWN = [Path(__file__).parent / "results" / "h200_rapids_rmat20.json"]


def main(paths):
    for path in paths:
        picture = path.with_suffix(".png")
        plot_comparison(json.loads(path.read_text())).savefig(picture, dpi=120)
        print(picture)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or DRAWN)
