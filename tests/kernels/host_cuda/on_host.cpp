// The fibers of `on_host.h`, by ucontext.
#include "on_host.h"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

thread_local Index threadIdx, blockIdx, blockDim, gridDim;
int planted;

namespace on_host {
namespace {

constexpr std::size_t STACK_BYTES = 256 << 10;  // of a fiber
constexpr std::size_t PAGE_BYTES = 4096;
constexpr unsigned CALM = 8;             // one pause in so many lets another thread take over
constexpr unsigned MAX_OFFERS = 4;       // threads to draw the fastest from: more make speeds more unequal
constexpr unsigned MAX_LOADS = 64;       // in vain, before a launch that waits for another sleeps
constexpr unsigned LATE = 16;            // one in so many stores into memory of several grids
constexpr long MAX_SWITCHES = 1L << 23;  // with more, a launch counts as endless

struct Fiber {
    void* left[5];  // where it left off, by `__builtin_setjmp`: `swapcontext` makes two system calls
    bool begun;
    void* stack;  // null for the host until it is known
    std::size_t stack_bytes;
    void* fake_stack;  // AddressSanitizer's
    unsigned block, thread;
    unsigned speed;
};

// A group of threads that meet repeatedly. Their values are double-buffered: a thread that is slow to leave one meeting
// still reads its values while others bring theirs to the next.
struct Meeting {
    explicit Meeting(unsigned size = 0) : size(size), values{std::vector<std::uint64_t>(size), values[0]} {}

    unsigned size;
    Operation operation = SYNC_WARP;
    unsigned round = 0;
    std::vector<Fiber*> waiting;
    std::vector<std::uint64_t> values[2];
    std::int64_t combined[2];
};

std::int64_t combine(Operation operation, const std::vector<std::uint64_t>& values) {
    const auto both = [=](std::int64_t a, std::int64_t b) {
        return operation == MAX ? std::max(a, b) : operation == ADD || operation == COUNT_BLOCK ? a + b : a | b;
    };
    return std::accumulate(values.begin() + 1, values.end(), static_cast<std::int64_t>(values[0]), both);
}

// The upper half of a linear congruential generator, with Knuth's factor: each launch has its own, and uses it at every
// switch.
struct Random {
    std::uint64_t state;

    unsigned operator()() { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 32; }
    unsigned below(std::uint64_t limit) { return (*this)() * limit >> 32; }
};

struct Shared {
    const void* key;
    std::unique_ptr<void, void (*)(void*)> memory;
};

struct Block {
    Meeting all, first;
    std::vector<Meeting> warps;
    std::vector<Shared> shared;
};

// The stacks of a launch, which later ones use again. Below each is a page that nobody may touch.
class Stacks {
public:
    Stacks() {
        const std::lock_guard<std::mutex> turn(mutex());
        if (idle().empty()) return;
        stacks = std::move(idle().back());
        idle().pop_back();
    }

    ~Stacks() {
        const std::lock_guard<std::mutex> turn(mutex());
        idle().push_back(std::move(stacks));
    }

    void* operator[](std::size_t number) {
        while (stacks.size() <= number) {
            const std::size_t bytes = PAGE_BYTES + STACK_BYTES;
            void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory == MAP_FAILED || mprotect(memory, PAGE_BYTES, PROT_NONE)) std::abort();
            stacks.push_back(static_cast<char*>(memory) + PAGE_BYTES);
        }
        return stacks[number];
    }

private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }

    static std::vector<std::vector<void*>>& idle() {
        static std::vector<std::vector<void*>> all;
        return all;
    }

    std::vector<void*> stacks;
};

struct Launch {
    Launch(const Shape& shape, void (*thread)(const void*), const void* kernel);

    Shape shape;
    void (*thread)(const void*);
    const void* kernel;
    Random random;
    ucontext_t beginning;  // of the fiber that begins: one for all, as each takes a kilobyte
    Stacks stacks;
    std::vector<Fiber> fibers;
    std::vector<Fiber*> ready;
    std::vector<Block> blocks;
    Fiber host = {.begun = true}, *running = &host;
    unsigned unfinished;
    unsigned offers;
    long switches = 0;
    unsigned loads = 0;  // from memory of several grids, since a thread did anything else
    const char* failure = nullptr;
};

thread_local Launch* current;

void arrived_from(Fiber* self) {
    const void* bottom;
    std::size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake_stack, &bottom, &bytes);
    if (!current->host.stack) current->host.stack = const_cast<void*>(bottom), current->host.stack_bytes = bytes;
}

void run_thread();

void begin(Fiber* fiber) {
    fiber->begun = true;
    ucontext_t& context = current->beginning;
    context.uc_stack.ss_sp = fiber->stack;
    context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&context, run_thread, 0);
    context.uc_stack.ss_size = 0;  // otherwise AddressSanitizer unpoisons the whole stack at each switch
    setcontext(&context);
}

__attribute__((noinline)) void switch_to(Fiber* next, bool for_good = false) {
    Fiber* const self = current->running;
    if (self == next) return;
    if (++current->switches == MAX_SWITCHES && next != &current->host) {
        current->failure = "the kernel does not end";
        next = &current->host;
    }
    current->running = next;
    threadIdx.x = next->thread;
    blockIdx.x = next->block;
    __sanitizer_start_switch_fiber(for_good ? nullptr : &self->fake_stack, next->stack, next->stack_bytes);
    if (__builtin_setjmp(self->left) == 0) {
        if (next->begun) __builtin_longjmp(next->left, 1);
        begin(next);
    }
    arrived_from(current->running);
}

// Remove a thread from `ready`: the fastest of a few drawn at random.
Fiber* draw() {
    auto& ready = current->ready;
    if (ready.empty()) fail("all threads wait for others");
    std::size_t place = current->random.below(ready.size());
    for (unsigned i = 1; i < current->offers; ++i) {
        const std::size_t other = current->random.below(ready.size());
        if (ready[other]->speed > ready[place]->speed) place = other;
    }
    Fiber* const drawn = ready[place];
    ready[place] = ready.back();
    ready.pop_back();
    return drawn;
}

void run_thread() {
    arrived_from(current->running);
    current->thread(current->kernel);
    const bool last = --current->unfinished == 0;
    switch_to(last ? &current->host : draw(), true);
}

// Meet the others of a group. Returns which of its double buffers this meeting's values are in.
unsigned meet(Meeting& meeting, unsigned place, Operation operation, std::uint64_t value) {
    const unsigned buffer = meeting.round % 2;
    meeting.values[buffer][place] = value;
    current->loads = 0;
    if (meeting.waiting.empty()) meeting.operation = operation;
    if (meeting.operation != operation) fail("threads of a group meet for different operations");
    meeting.waiting.push_back(current->running);
    if (meeting.waiting.size() == meeting.size) {
        meeting.combined[buffer] = combine(operation, meeting.values[buffer]);
        ++meeting.round;
        current->ready.insert(current->ready.end(), meeting.waiting.begin(), meeting.waiting.end());
        meeting.waiting.clear();
    }
    switch_to(draw());
    return buffer;
}

Launch::Launch(const Shape& shape, void (*thread)(const void*), const void* kernel)
    : shape(shape),
      thread(thread),
      kernel(kernel),
      random{shape.seed},
      fibers(shape.blocks * shape.threads),
      blocks(shape.blocks) {
    getcontext(&beginning);
    unfinished = fibers.size();
    offers = 1 + random.below(MAX_OFFERS);
    for (unsigned block = 0; block < shape.blocks; ++block) {
        blocks[block].all = Meeting(shape.threads);
        blocks[block].warps.assign(shape.threads / WARP, Meeting(WARP));
        unsigned speed = 0;
        for (unsigned thread = 0; thread < shape.threads; ++thread) {
            if (thread % WARP == 0) speed = random();
            Fiber& fiber = fibers[block * shape.threads + thread];
            fiber.stack = stacks[&fiber - fibers.data()];
            fiber.stack_bytes = STACK_BYTES;
            fiber.block = block, fiber.thread = thread, fiber.speed = speed;
            ready.push_back(&fiber);
        }
    }
}

// Now and then, let another thread take over: this one is ready too.
bool offers_turn() {
    if (current->random.below(CALM)) return false;
    current->ready.push_back(current->running);
    return true;
}

Block& block_here() { return current->blocks[blockIdx.x]; }

}  // namespace

const char* run(const Shape& shape, void (*thread)(const void*), const void* kernel) {
    if (shape.threads % WARP) return "blocks must be whole warps";
    Launch here(shape, thread, kernel);
    current = &here;
    blockDim.x = shape.threads;
    gridDim.x = shape.blocks;
    switch_to(draw());
    current = nullptr;
    for (const Fiber& fiber : here.fibers) {
        if (here.failure) __asan_unpoison_memory_region(fiber.stack, STACK_BYTES);  // of the frames that it left
    }
    return here.failure;
}

void fail(const char* message) {
    current->failure = message;
    switch_to(&current->host, true);
    std::abort();
}

void pause() {
    current->loads = 0;
    if (offers_turn()) switch_to(draw());
}

std::uint64_t load_acquire(const unsigned long long* place) {
    const std::uint64_t now = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (offers_turn()) {
        --current->switches;  // it may take long until another grid stores
        ++current->loads < MAX_LOADS ? sched_yield() : usleep(1);
        switch_to(draw());
    }
    return now;
}

std::uint64_t load_relaxed(const unsigned long long* place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

void store_relaxed(unsigned long long* place, std::uint64_t value) {
    pause();
    if (!current->random.below(LATE)) usleep(1);  // stores arrive in any order
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
}

const std::uint64_t* meet_warp(Operation operation, std::uint64_t value) {
    Meeting& warp = block_here().warps[threadIdx.x / WARP];
    return warp.values[meet(warp, threadIdx.x % WARP, operation, value)].data();
}

std::int64_t combine_warp(Operation operation, std::int64_t value) {
    Meeting& warp = block_here().warps[threadIdx.x / WARP];
    return warp.combined[meet(warp, threadIdx.x % WARP, operation, value)];
}

std::int64_t combine_block(Operation operation, std::int64_t value) {
    Meeting& block = block_here().all;
    return block.combined[meet(block, threadIdx.x, operation, value)];
}

void named_barrier(unsigned threads) {
    Meeting& meeting = block_here().first;
    if (meeting.size != threads) meeting = Meeting(threads);
    if (threadIdx.x >= threads) fail("a thread meets those before it, and is not one of them");
    meet(meeting, threadIdx.x, SYNC_NAMED, 0);
}

std::uint64_t nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void* shared(const void* key, std::size_t bytes, std::size_t alignment) {
    std::vector<Shared>& all = block_here().shared;
    for (const Shared& each : all) {
        if (each.key == key) return each.memory.get();
    }
    void* memory = nullptr;
    if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes)) std::abort();
    std::memset(memory, static_cast<int>(current->random.below(256)), bytes);
    all.push_back({key, {memory, std::free}});
    return memory;
}

unsigned char* dynamic_shared() {
    static const char key = 0;
    return static_cast<unsigned char*>(shared(&key, current->shape.shared, 16));
}

}  // namespace on_host
