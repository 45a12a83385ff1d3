// The edges of random graphs, one thread per edge, as the CPU draws them: edge i has a stream of its own, keyed by the
// graph's key and i, so that any piece of the list can be drawn anywhere.
//
//   sources[count], targets[count]    the edges `first`, `first` + 1, ...
//   naming[2 * ROUNDS]                multipliers, odd, and summands that give vertices their names
//
// Sources: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014 (splitmix64);
// Graph500 specification, 1.2.

using Bits = unsigned long long;

constexpr int ROUNDS = 3;

__device__ inline Bits random_bits(Bits key, Bits counter) {
    Bits x = key + (counter + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// One to one over 2^scale vertices.
__device__ inline Bits renamed(Bits vertex, int scale, const Bits* naming) {
    const Bits mask = (1ull << scale) - 1;
    for (int round = 0; round < ROUNDS; ++round) {
        vertex = (vertex * naming[2 * round] + naming[2 * round + 1]) & mask;
        vertex ^= vertex >> (scale + 1) / 2;
    }
    return vertex;
}

// At each of `scale` levels one quadrant, from which `to_b`, `to_c` and `to_d` of 2^32 lead on; then both ends renamed.
template <typename Vertex>
__global__ void rmat(long long key, long long first, long long count, long long scale, long long to_b, long long to_c,
                     long long to_d, const Bits* naming, Vertex* sources, Vertex* targets) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const Bits stream = random_bits(key, first + i);
        Bits u = 0, v = 0, bits = 0;
        for (int level = 0; level < scale; ++level) {
            if (level % 2 == 0) bits = random_bits(stream, level);
            const long long draw = level % 2 == 0 ? bits >> 32 : bits & 0xFFFFFFFFull;
            u = 2 * u + (draw >= to_c);
            v = 2 * v + ((draw >= to_b && draw < to_c) || draw >= to_d);
        }
        sources[i] = static_cast<Vertex>(renamed(u, static_cast<int>(scale), naming));
        targets[i] = static_cast<Vertex>(renamed(v, static_cast<int>(scale), naming));
    }
}

// Both ends uniform over 2^scale vertices.
template <typename Vertex>
__global__ void uniform(long long key, long long first, long long count, long long scale, Vertex* sources,
                        Vertex* targets) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const Bits stream = random_bits(key, first + i);
        sources[i] = scale ? static_cast<Vertex>(random_bits(stream, 0) >> (64 - scale)) : 0;
        targets[i] = scale ? static_cast<Vertex>(random_bits(stream, 1) >> (64 - scale)) : 0;
    }
}
