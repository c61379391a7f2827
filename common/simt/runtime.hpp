// The functions that the CUDA C++ of a kernel calls on the CPU back end. Declarations only: every step
// includes them.
#pragma once
#include "simt/annotations.hpp"
#include "simt/types.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#if defined(__CUDA__)  // not checked by clang's CUDA front end
#pragma clang force_cuda_host_device begin
#endif
namespace simt {

/// A place in the source. (clang 14 has no std::source_location.)
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

/// A launch: call(arguments) is the body of one thread.
struct Launch {
    dim3 grid, block;
    std::size_t shared_bytes;
    const void* code;    // an address in the kernel's module
    const void* kernel;  // null if the arguments select it
    const void *constants, *constants_end;
    const char *of_device, *of_device_end;  // names that the module declares for the device; null if unknown
    void (*call)(const void*);
    const void* arguments;
    std::size_t arguments_bytes;
    const char* name;  // the kernel's name, as written in the launch
    Site site;
    unsigned stream;                          // its number in simt/order.hpp
    const void* const* pointers;              // the value of each parameter; null if it is not a pointer
    const std::optional<long long>* numbers;  // the value of each parameter; empty if it is not an integer
    std::size_t parameters;
};

/// What a module declares for the device.
struct Declarations {
    const void *constants = nullptr, *constants_end = nullptr;
    const char *of_device = nullptr, *of_device_end = nullptr;
    const void* code = nullptr;  // its first constructor
};
/// Called before any other code of a module, by its first constructor.
void module_begins(const Declarations&);

/// Runs every block to its end. Throws kata::Error if a rule was broken, kata::OpenKata if open() was called.
void run(const Launch&);

[[noreturn]] void open();

/// Throws kata::Error for a failed call of the runtime interface; `error` is CUDA's text.
[[noreturn]] void fail(const char* error, const char* file, int line);

/// Barrier of the block: returns the number of its threads whose predicate is not 0.
int barrier(int predicate, const char* name, Site);

/// Operations of the lanes named in a mask.
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

/// The result of a shuffle from a lane that takes no part, which CUDA leaves undefined: NaN as a float or a
/// double, negative as an integer.
inline constexpr std::uint64_t undefined_value = 0xFFF8A7A7FFF8A7A7;

/// Waits for every lane in `mask` that has not left the kernel, then returns: for a shuffle, the `value` of
/// lane `source` (undefined_value if it takes no part); for a ballot, a bit for each lane whose value is not
/// 0; for a match, a bit for each lane whose value equals the caller's; for the others, the sum, the minimum
/// or the maximum of the values, as signed or unsigned numbers, or the `and`, `or` or `xor` of their bits.
/// For matrices all lanes must make the call in one line; each value is the address of a MatrixInMemory or a
/// Product.
std::uint64_t exchange(Collective, unsigned mask, std::uint64_t value, int source, const char* name, Site);
unsigned active_mask(Site);

/// While one lives, the running thread is in a function of the toolkit, whose loops and branches are not the
/// student's: only its exchanges are counted, like the shuffles on a GPU.
class InToolkit {
  public:
    InToolkit() noexcept;
    ~InToolkit();
    InToolkit(const InToolkit&) = delete;
    InToolkit& operator=(const InToolkit&) = delete;
};

/// The scope in which an update is atomic.
enum class AtomicFor : unsigned char { device, block };
/// While it lives, the running thread alone updates the value at `address`. `code` is the calling
/// instruction. `replaces`: the new value does not depend on the old one.
class AtomicUpdate {
  public:
    AtomicUpdate(const void* address, unsigned bytes, const void* code, AtomicFor = AtomicFor::device,
                 bool replaces = false) noexcept;
    ~AtomicUpdate();
    AtomicUpdate(const AtomicUpdate&) = delete;
    AtomicUpdate& operator=(const AtomicUpdate&) = delete;

  protected:
    struct Store {};
    AtomicUpdate(Store, const void* address, unsigned bytes, const void* code, AtomicFor) noexcept;

  private:
    void* lock_;
};
/// The same for an atomic store.
class AtomicStore : AtomicUpdate {
  public:
    AtomicStore(const void* address, unsigned bytes, const void* code, AtomicFor whom) noexcept
        : AtomicUpdate(Store{}, address, bytes, code, whom) {}
};
/// Called before an atomic load.
void before_atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor);
/// Called before a read through the read-only cache.
void before_read_only(const void* address, unsigned bytes);
/// Called after a compare-and-swap that has stored its value.
void swapped();
void fence();
void yield();
/// Returns a larger number at each call. Yields now and then.
long long ticks();
[[noreturn]] void trap(Site);
/// Ends the launch: barriers of the grid are not supported.
[[noreturn]] void no_grid_barrier(Site);

/// Allows launches of the kernel this much dynamic shared memory. Throws kata::Error if no block has it.
void allow_shared(const void* kernel, int bytes);

/// A barrier that threads of a block pass when all expected arrivals have been counted. Lies in shared
/// memory.
struct Arrivals {
    std::uint16_t expected, missing;  // arrivals that a phase needs, and that it still lacks
    std::uint32_t phase;
};
/// Counts arrivals of the thread, and returns the phase that they belong to.
std::uint32_t arrive(Arrivals*, unsigned count, const char* name, Site);
/// Waits until a later phase has begun.
void await(const Arrivals*, std::uint32_t phase, const char* name, Site);

/// Begins to copy `bytes` (4, 8 or 16) from device memory into shared memory. They arrive when the thread
/// waits for them, or when the phase of `barrier` ends. The last `zeros` of them are 0 and not read. `name`
/// is the function called.
void begin_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, const char* name, Site,
                const Arrivals* barrier = nullptr);
/// Commits the thread's copies since the last commit as a group.
void commit_copies();
/// Waits for the thread's copies except those of its last `groups` groups and those not committed.
void wait_for_copies(std::size_t groups);

int lane();
/// Returns a bit for each lane that took part in the running thread's last exchange.
unsigned partners();

/// Called first by each thread of a kernel with __launch_bounds__. Ends the launch if its blocks have more
/// threads than that; notes the blocks per multiprocessor.
void hold_to_bounds(std::uint64_t threads, std::uint64_t blocks = 1, std::uint64_t cluster = 1) noexcept;
/// Called for each local array. Notes one that the registers of a thread cannot hold, once.
void hold_local(const char* name, std::size_t bytes, Site = Site::here()) noexcept;

/// Memory from a `function` other than cudaMalloc belongs to host and device in turn.
void* device_alloc(std::size_t bytes, Site, const char* function = "cudaMalloc");
void device_free(void*);
/// Called when the step checks whether the launches so far have failed.
void launches_are_checked();
/// Throws kata::Error if `to` or `from` is not where the arguments of `function` declare it to be, on the
/// device or on the host. CUDA leaves that undefined.
void check_side(const char* function, const char* direction, const void* address, std::size_t bytes,
                bool of_device);
[[noreturn]] void refuse_side(const char* function, const char* direction, bool of_device);
/// The sizes of the host's arrays in bytes, if the compiler knows.
struct Room {
    std::size_t to = ~std::size_t{0}, from = ~std::size_t{0};
};
void copy_memory(void* to, const void* from, std::size_t bytes, Room = {});
/// `from` and `to` may be of the device or of the host.
void copy_to_symbol(void* symbol, const void* from, std::size_t bytes);
void copy_from_symbol(void* to, const void* symbol, std::size_t bytes);
void fill_memory(void* to, int value, std::size_t bytes);
/// Returns the address of the symbol. From now on copies and fills accept it as device memory.
void* symbol_address(void* symbol, std::size_t bytes);

/// Throws kata::Error if a copy of `bytes` at `offset` does not fit into a symbol of `size` bytes.
void check_symbol(std::size_t size, std::size_t offset, std::size_t bytes);

}  // namespace simt
#if defined(__CUDA__)
#pragma clang force_cuda_host_device end
#endif
