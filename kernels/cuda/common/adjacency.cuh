// Rows of a CSR: their bounds, and their neighbours in aligned groups of four.
#pragma once

constexpr int GROUP = 4;  // neighbours of a group, loaded together

// The bounds of the rows of the wanted vertices, 0 for the others. The loads stand in a loop of their own, so that all
// are in flight before the first is waited for.
template <int COUNT, typename Vertex, typename Offset>
__device__ inline void load_rows(const Offset* offsets, const bool (&wanted)[COUNT], const Vertex (&vertex)[COUNT],
                                 Offset (&first)[COUNT], Offset (&last)[COUNT]) {
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        first[k] = last[k] = 0;
        if (wanted[k]) {
            first[k] = __ldg(offsets + vertex[k]);
            last[k] = __ldg(offsets + vertex[k] + 1);
        }
    }
}

__device__ inline void load_whole_group(const int* targets, long long group, int (&loaded)[GROUP]) {
    const int4 four = __ldg(reinterpret_cast<const int4*>(targets) + group);
    loaded[0] = four.x, loaded[1] = four.y, loaded[2] = four.z, loaded[3] = four.w;
}

__device__ inline void load_whole_group(const long long* targets, long long group, long long (&loaded)[GROUP]) {
#pragma unroll
    for (int i = 0; i < GROUP; ++i) loaded[i] = __ldg(targets + group * GROUP + i);
}

// A group that begins before `last`, and otherwise zeros; what lies past the end of `targets` is 0 too.
template <typename Offset>
__device__ inline void load_group(const int* targets, long long group, Offset last, long long m, int (&loaded)[GROUP]) {
    const long long begin = group * GROUP;
    int4 four = {0, 0, 0, 0};
    if (begin < last && begin + GROUP <= m) four = __ldg(reinterpret_cast<const int4*>(targets) + group);
    if (begin < last && begin + GROUP > m) {
        four.x = __ldg(targets + begin);
        if (begin + 1 < m) four.y = __ldg(targets + begin + 1);
        if (begin + 2 < m) four.z = __ldg(targets + begin + 2);
    }
    loaded[0] = four.x, loaded[1] = four.y, loaded[2] = four.z, loaded[3] = four.w;
}

template <typename Offset>
__device__ inline void load_group(const long long* targets, long long group, Offset last, long long,
                                  long long (&loaded)[GROUP]) {
#pragma unroll
    for (int i = 0; i < GROUP; ++i) {
        loaded[i] = 0;
        if (group * GROUP + i < last) loaded[i] = __ldg(targets + group * GROUP + i);
    }
}
