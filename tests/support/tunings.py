"""Tunings of the fast search that force each of its code paths, with few threads."""

from dataclasses import replace

from rapids_bfs.engines.gpu.direction_optimizing import DEFAULT

NEVER, ALWAYS = 1, 1 << 40  # alpha: go bottom-up never, or at once
SMALL = replace(
    DEFAULT, threads=64, grid=2, cluster=1, single_block_chunks=0, capacity=64, dense=ALWAYS, dense_edges=ALWAYS
)
DEEP = replace(SMALL, grid=None, cluster=2, deep=-1, alpha=NEVER, deep_chunks_of_block=400, meet=3)
TUNINGS = {
    "top-down": replace(SMALL, alpha=NEVER),
    "dense": replace(SMALL, alpha=NEVER, dense_edges=0),
    "bottom-up": replace(SMALL, alpha=ALWAYS, beta=ALWAYS),
    "to and fro": replace(SMALL, alpha=3, beta=2, shrinking_levels=1, dense_edges=8, single_block_chunks=6),
    "one block": replace(SMALL, single_block_chunks=400),
    "one block, without room": replace(SMALL, single_block_chunks=400, capacity=7),
    "deep": DEEP,
    "deep, without room": replace(DEEP, capacity=5, meet=16),
    "deep, after one block": replace(DEEP, single_block_chunks=9, meet=1),
}
