// What the kernels share that a host launches once a level.
//
// Vertex is int or long long, Offset is int or long long; -1 stands for no vertex. Sources and target are vertices.
// Masks are arrays of bool, a byte per vertex, so that threads set neighbouring flags by plain stores.
#pragma once

#include "../common/grid.cuh"

// Elements of `status`, which lies in the host's memory: a store to it crosses the bus, so few threads may make one.
enum {
    PROGRESS,     // the last level that reached a vertex; of block_queue, the end of the queue
    TARGET_LEVEL  // the level that reached the target, 0 before
};

// To be called by one thread of each block that reached a vertex. The first block at a level stores to the
// host's memory; the others see in device memory that it has: `announced[0]` is the last level that was announced.
__device__ inline void announce(int level, int* announced, volatile long long* status) {
    if (*announced != level && atomicExch(announced, level) != level) status[PROGRESS] = level;
}
