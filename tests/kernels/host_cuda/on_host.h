// GPUs on the host: every thread of a grid is a fiber of one OS thread; a seeded random generator schedules them. Grids
// that OS threads launch at the same time run at the same time.
//
// As on a GPU: the votes, shuffles and barriers of a warp, a block, some warps of a block and the grid are meetings, at
// which all have to arrive with the same operation; a deadlock, and `__trap`, end the launch with a message. Each block
// has its own shared memory, filled with garbage, in which AddressSanitizer checks the bounds of each array. Warps run at
// unequal speeds. Another thread may take over at each meeting, atomic, load that bypasses L1 (`__ldcg`) and fence.
//
// Unlike on a GPU: between those points a thread runs undisturbed, so that races of plain loads and stores show only
// some of their orders. Memory is in order: a missing fence, or a `__ldg` of what the kernel itself writes, does no
// harm here. Warps do not run in lockstep. Time is not simulated, nor are the limits of registers and of shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace on_host {

constexpr unsigned WARP = 32;

struct Shape {
    unsigned blocks, threads, shared;  // `shared`: bytes of dynamic shared memory
    std::uint64_t seed;
};

enum Operation { SYNC_WARP, SHUFFLE, VOTE, OR, ADD, MAX, SYNC_BLOCK, COUNT_BLOCK, SYNC_NAMED };

// Call `thread(kernel)` in each fiber. Returns null, or what went wrong.
const char* run(const Shape& shape, void (*thread)(const void*), const void* kernel);

// End the launch with a message; called by one of its threads.
[[noreturn]] void fail(const char* message);

// A point at which another thread may take over.
void pause();

// Memory that several grids use. A load with acquire semantics is a point at which another grid may take over too; a
// store may come late.
std::uint64_t load_acquire(const unsigned long long* place);
std::uint64_t load_relaxed(const unsigned long long* place);
void store_relaxed(unsigned long long* place, std::uint64_t value);

// Meet the other threads of the warp. Returns the values of all, by lane; valid until the next meeting.
const std::uint64_t* meet_warp(Operation operation, std::uint64_t value = 0);

// Meet the other threads of the warp or the block. Returns what their values are together.
std::int64_t combine_warp(Operation operation, std::int64_t value);
std::int64_t combine_block(Operation operation, std::int64_t value = 0);

void named_barrier(unsigned threads);

std::uint64_t nanoseconds();

// This block's shared memory for the declaration with this `key`, allocated at the first call.
void* shared(const void* key, std::size_t bytes, std::size_t alignment);
unsigned char* dynamic_shared();

template <typename T>
T& shared(const void* key) {
    return *static_cast<T*>(shared(key, sizeof(T), alignof(T)));
}

template <typename... Parameters, std::size_t... I>
const char* launch(const Shape& shape, void (*kernel)(Parameters...), void** arguments, std::index_sequence<I...>) {
    const auto call = [=] { kernel(*static_cast<Parameters*>(arguments[I])...); };
    return run(shape, [](const void* call_) { (*static_cast<const decltype(call)*>(call_))(); }, &call);
}

// Launch a kernel as the driver does: `arguments` are the addresses of its arguments.
template <typename... Parameters>
const char* launch(const Shape& shape, void (*kernel)(Parameters...), void** arguments) {
    return launch(shape, kernel, arguments, std::index_sequence_for<Parameters...>());
}

}  // namespace on_host

struct Index {
    unsigned x;
};

extern thread_local Index threadIdx, blockIdx, blockDim, gridDim;

extern "C" int planted;  // the fault that a test has planted in the kernels, 0: none
