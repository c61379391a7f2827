// What the CUDA C++ of a kernel calls on the CPU back end. Out of line and light, for a step is compiled with
// the meter's instrumentation and often; the scheduler behind it is in scheduler.cpp.
#pragma once
#include "simt/annotations.hpp"
#include "simt/types.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#if defined(__CUDA__)  // behind what a kernel calls: nobody's business
#pragma clang force_cuda_host_device begin
#endif
namespace simt {

/// Where in the source a thread stands. (std::source_location is missing from clang 14.)
struct Site {
    const char* file = "";
    int line = 0;
    static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
    bool operator==(const Site& other) const {
        return line == other.line && (file == other.file || std::strcmp(file, other.file) == 0);
    }
};

/// One launch as the scheduler takes it: call(arguments) is the body of one thread.
struct Launch {
    dim3 grid, block;
    std::size_t shared_bytes;
    const void* code;    // something of the kernel's module, to find it by
    const void* kernel;  // null where only the compiler knows which one the arguments have chosen
    const void *constants, *constants_end;
    const char *of_device, *of_device_end;  // names that the module declares for the device; null if unknown
    void (*call)(const void*);
    const void* arguments;
    std::size_t arguments_bytes;
    const char* name;  // of the kernel, as the launch has it
    Site site;
    unsigned stream;                          // in simt/order.hpp
    const void* const* pointers;              // of each parameter, or null where that is no pointer
    const std::optional<long long>* numbers;  // of each parameter that is an integer
    std::size_t parameters;
};

/// Runs every block to its end. Throws kata::Error where a rule was broken, kata::OpenKata where open() was
/// met.
void run(const Launch&);

[[noreturn]] void open();

/// A call of the runtime interface has failed, of which CUDA says `error`. Throws kata::Error.
[[noreturn]] void fail(const char* error, const char* file, int line);

/// Barrier of the block: returns, over all its threads, how many gave a predicate that is not 0.
int barrier(int predicate, const char* name, Site);

/// What the lanes named in a mask do together.
enum class Collective : unsigned char {
    sync,
    shuffle,
    ballot,
    match,
    sum,
    least,
    most,
    least_unsigned,
    most_unsigned,
    all_bits,
    any_bit,
    odd_bits,
    matrix,
    multiply
};

/// What a shuffle gives from a lane that takes no part, of which CUDA says that it is undefined: NaN as a
/// float or a double, as an integer negative.
inline constexpr std::uint64_t undefined_value = 0xFFF8A7A7FFF8A7A7;

/// Waits for every lane in `mask` that has not left the kernel, then gives: for a shuffle, the `value` of
/// lane `source` (undefined_value where that takes no part); for a ballot, a bit per lane whose value is not
/// 0; for a match, a bit per lane whose value equals the caller's; for the others, the sum of the values, the
/// least or the largest of them, as signed or as unsigned numbers, or what `and`, `or` and `xor` make of
/// their bits.
/// Matrices take all lanes, from one line, whose values are the addresses of a MatrixInMemory or a Product
/// each.
std::uint64_t exchange(Collective, unsigned mask, std::uint64_t value, int source, const char* name, Site);
unsigned active_mask(Site);

/// As long as there is one, the running thread is in a function of the toolkit, whose loops and branches are
/// none of the student's: of what it executes only the exchanges count, as the shuffles that a GPU makes of
/// them.
class InToolkit {
  public:
    InToolkit() noexcept;
    ~InToolkit();
    InToolkit(const InToolkit&) = delete;
    InToolkit& operator=(const InToolkit&) = delete;
};

/// To whose eyes an update is atomic: all threads of the device, or those of the block.
enum class AtomicFor : unsigned char { device, block };
/// As long as there is one, the running thread updates what lies at `address`, and no other does; `code` is
/// the calling instruction.
class AtomicUpdate {
  public:
    AtomicUpdate(const void* address, unsigned bytes, const void* code,
                 AtomicFor = AtomicFor::device) noexcept;
    ~AtomicUpdate();
    AtomicUpdate(const AtomicUpdate&) = delete;
    AtomicUpdate& operator=(const AtomicUpdate&) = delete;

  protected:
    struct Store {};
    AtomicUpdate(Store, const void* address, unsigned bytes, const void* code, AtomicFor) noexcept;

  private:
    void* lock_;
};
/// Likewise of an atomic store.
class AtomicStore : AtomicUpdate {
  public:
    AtomicStore(const void* address, unsigned bytes, const void* code, AtomicFor whom) noexcept
        : AtomicUpdate(Store{}, address, bytes, code, whom) {}
};
/// Called before an atomic load.
void before_atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor);
/// Called before a read through the cache for what no launch changes while it runs.
void before_read_only(const void* address, unsigned bytes);
/// Called after a compare-and-swap that has stored its value.
void swapped();
void fence();
void yield();
/// A number that is larger at each call. Whoever asks gives way now and then.
long long ticks();
[[noreturn]] void trap(Site);
/// Ends the launch: no block waits for another.
[[noreturn]] void no_grid_barrier(Site);

/// Launches of the kernel may ask for as much dynamic shared memory. Throws kata::Error where no block has
/// it.
void allow_shared(const void* kernel, int bytes);

/// Begins to copy `bytes` (4, 8 or 16) from device memory into shared memory, where they are once the thread
/// has waited for them; the last `zeros` of them are 0 and not read. `name` is the function that was called.
void begin_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, const char* name, Site);
/// Makes a group of the thread's copies since the last one.
void commit_copies();
/// Waits for the thread's copies, but those of its last `groups` groups and those in none.
void wait_for_copies(std::size_t groups);

int lane();
/// A bit per lane that took part in the running thread's last exchange.
unsigned partners();

/// Ends the launch where its blocks have more threads than the kernel's __launch_bounds__ say, which may also
/// promise how many blocks a multiprocessor has at a time, and in a cluster. Called by each thread before
/// anything else.
void hold_to_bounds(std::uint64_t threads, std::uint64_t blocks = 1, std::uint64_t cluster = 1) noexcept;
/// A thread has a local array of so many bytes: remembered, once, where its registers cannot hold it.
void hold_local(const char* name, std::size_t bytes, Site = Site::here()) noexcept;

void* device_alloc(std::size_t bytes, Site);
void device_free(void*);
/// Somebody asks whether the launches so far have failed.
void launches_are_checked();
/// Throws kata::Error where `function` is told that what it copies `to` or `from` is memory of the device, or
/// of the host, and it is not: CUDA leaves undefined what it does then.
void check_side(const char* function, const char* direction, const void* address, std::size_t bytes,
                bool of_device);
[[noreturn]] void refuse_side(const char* function, const char* direction, bool of_device);
/// How many bytes there are, where the compiler knows.
struct Room {
    std::size_t to = ~std::size_t{0}, from = ~std::size_t{0};
};
void copy_memory(void* to, const void* from, std::size_t bytes, Room = {});
/// The other side may be of the device or of the host.
void copy_to_symbol(void* symbol, const void* from, std::size_t bytes);
void copy_from_symbol(void* to, const void* symbol, std::size_t bytes);
void fill_memory(void* to, int value, std::size_t bytes);
/// The symbol's own address, at which copies and fills take it for device memory from now on.
void* symbol_address(void* symbol, std::size_t bytes);

/// Throws kata::Error where a copy of `bytes` at `offset` does not fit into a symbol of `size` bytes.
void check_symbol(std::size_t size, std::size_t offset, std::size_t bytes);

}  // namespace simt
#if defined(__CUDA__)
#pragma clang force_cuda_host_device end
#endif
