// A GPU on the host: every thread of a grid is a fiber of one OS thread, and chance, from a seed, says which goes on.
//
// As on a GPU: the votes, shuffles and barriers of a warp, a block, some warps of a block, a cluster and the grid are
// meetings, at which all have to arrive with the same operation; threads that wait for ever, and `__trap`, end the launch
// with a message. Each block has shared memory of its own, full of rubbish at first, each array with an end that
// AddressSanitizer sees; the blocks of a cluster reach each other's. Warps go at unequal speeds. Another thread may take
// over at each meeting, atomic, load past the first cache (`__ldcg`) and fence.
//
// Not as on a GPU: between those places a thread goes on undisturbed, so of a race of plain loads and stores only some
// orders are seen. Memory is in order: a missing fence, or a `__ldg` of what the kernel itself writes, does no harm here.
// Warps do not run in step where the hardware would. There is no time, and no limit of registers or of shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace on_host {

constexpr unsigned WARP = 32;

struct Shape {
    unsigned blocks, threads, shared, cluster;  // `shared`: bytes of a block, whose number is the launch's
    std::uint64_t seed;
};

enum Operation { SYNC_WARP, VOTE, SHUFFLE, REDUCE, SYNC_BLOCK, COUNT_BLOCK, SYNC_FIRST, SYNC_CLUSTER };

// Call `thread(kernel)` in each fiber. Returns null, or what went wrong.
const char* run(const Shape& shape, void (*thread)(const void*), const void* kernel);

// End the launch from within a thread of it.
[[noreturn]] void fail(const char* message);

// Another thread may take over.
void pause();

// Meet the others of the warp or the block; what each brought, in the order of the threads, until the next meeting.
const std::uint64_t* meet_warp(Operation operation, std::uint64_t value = 0);
const std::uint64_t* meet_block(Operation operation, std::uint64_t value = 0);
void barrier_of_first(unsigned threads);
void cluster_barrier();

int cluster_size();
std::uint64_t nanoseconds();

// This block's memory for the declaration that has the `key`, of so many bytes.
void* shared(const void* key, std::size_t bytes, std::size_t alignment);
unsigned char* dynamic_shared();

// What another block of the cluster has where this one has `mine`.
void* address_in_block(void* mine, int rank);

template <typename T>
T& shared(const void* key) {
    return *static_cast<T*>(shared(key, sizeof(T), alignof(T)));
}

template <typename T>
T* of_block(T* mine, int rank) {
    return static_cast<T*>(address_in_block(const_cast<void*>(static_cast<const void*>(mine)), rank));
}

template <typename... Parameters, std::size_t... I>
const char* launch(const Shape& shape, void (*kernel)(Parameters...), void** arguments, std::index_sequence<I...>) {
    const auto call = [=] { kernel(*static_cast<Parameters*>(arguments[I])...); };
    return run(shape, [](const void* call_) { (*static_cast<const decltype(call)*>(call_))(); }, &call);
}

// Launch a kernel as the driver does: by the addresses of its arguments.
template <typename... Parameters>
const char* launch(const Shape& shape, void (*kernel)(Parameters...), void** arguments) {
    return launch(shape, kernel, arguments, std::index_sequence_for<Parameters...>());
}

}  // namespace on_host

struct Index {
    unsigned x;
};

extern Index threadIdx, blockIdx, blockDim, gridDim;

extern "C" int planted;  // the fault that a test has planted in the kernels, 0: none
