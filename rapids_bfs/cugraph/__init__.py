"""`cugraph.bfs` and `cugraph.bfs_edges` with our kernel: the same arguments, results and errors.

    from rapids_bfs.cugraph import bfs      # instead of: from cugraph import bfs

The first call prepares the search; the preparation stays with the `cugraph.Graph` (by a weak reference), so later calls
cost only a search and its frame.
"""

from .bfs import bfs, bfs_edges

__all__ = ["bfs", "bfs_edges"]
