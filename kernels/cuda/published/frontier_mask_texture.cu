// Frontier mask, its adjacency read through a texture: everything else is as in frontier_mask.cu.
//
// On the GPUs of 2007 a texture was the only way to a cache. Since then global loads are cached too, and this file is
// here to measure what is left of the difference.
//
//   targets  a texture object over the m entries of the adjacency, a 32-bit integer each
//
// Limits: a linear texture has at most as many elements as the device says (2^27 or 2^28), so m may be no larger,
// and vertices are int. Races, work and synchronisation: as in frontier_mask.cu.
//
// Source: P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, HiPC 2007, whose
// section 2 weighs the memories of the device.

#include "frontier_mask.cu"

template <typename Vertex, typename Offset>
struct InTexture {
    cudaTextureObject_t targets;

    __device__ Vertex operator[](Offset edge) const { return tex1Dfetch<Vertex>(targets, static_cast<int>(edge)); }
};
