// What the kernels share that a host starts anew for each level.
//
// Vertex is int or long long, Offset is int or long long; -1 stands for no vertex. Sources and target are vertices.
// Mask arrays are bool, a byte a vertex, so that threads that set neighbouring flags never share a word that they
// would have to read first.

#pragma once

#include "../common/grid.cuh"

// Elements of `status`, which lies in the host's memory: a store to it crosses the bus, so few threads may make one.
enum {
    PROGRESS,     // the last level that reached a vertex; of block_queue, the end of the queue
    TARGET_LEVEL  // the level that reached the target, 0 before
};

// To be called by one thread of each block that reached a vertex. The first block at a level tells the host, and the
// others see in device memory that it is told: `announced[0]` is the last level of which the host knows.
__device__ inline void announce(int level, int* announced, volatile long long* status) {
    if (*announced != level && atomicExch(announced, level) != level) status[PROGRESS] = level;
}
