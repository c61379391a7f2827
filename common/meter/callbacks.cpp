// The functions that instrumented code calls. Compilers and their sanitizer runtimes agree on their names;
// the runtimes are not linked.
#include "meter/meter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#define METER_CODE __builtin_return_address(0)

namespace {

using meter::Verb;

/// Handles an access that is not recorded.
void ignore(const void* address, Verb verb, const void* code) {
    if (!simt::running) return meter::the_meter.touch_from_host(address, verb, code);
    meter::the_meter.settle_overwrite();
    if (verb == Verb::volatile_read) simt::poll();
}

[[gnu::always_inline]] inline void heard(const void* address, std::size_t bytes, Verb verb,
                                         const void* code) {
    if (!meter::the_meter.listening()) return ignore(address, verb, code);
    meter::the_meter.settle_overwrite();
    if (verb == Verb::volatile_read) simt::poll();
    if (signals(verb)) meter::the_meter.before_signal(address, bytes, verb, code);
    const bool plain = verb == Verb::read || verb == Verb::write;
    if (plain && meter::the_meter.touch_as_usual(address, bytes, verb, code)) return;
    meter::the_meter.touch(address, bytes, verb, code);
}

/// Most accesses are plain, so this path is short. Launches of millions of threads are not observed: then
/// plain() returns at once.
template <std::size_t bytes, Verb verb>
[[gnu::noinline]] void heard_plain(const void* address, const void* code) {
    heard(address, bytes, verb, code);
}
template <std::size_t bytes, Verb verb>
[[gnu::always_inline]] inline void plain(const void* address, const void* code) {
    if (meter::the_meter.observing()) heard_plain<bytes, verb>(address, code);
}

/// A structure that is less aligned than it is wide is moved in pieces, mostly of four bytes.
void heard_range(const void* address, std::size_t bytes, Verb verb, const void* code) {
    const auto half = bytes <= 16 && std::has_single_bit(bytes) ? std::min<std::size_t>(4, bytes / 2) : 16;
    const auto bits = reinterpret_cast<std::uintptr_t>(address) | bytes | half;
    const auto piece = bits & -bits;
    for (std::size_t done = 0; done < bytes; done += piece)
        heard(static_cast<const std::byte*>(address) + done, piece, verb, code);
}

/// memcpy, memmove and memset move single bytes, as on a GPU without known alignment. Reads and writes have
/// different codes, both within the call. `from` is null for memset.
void heard_copy(const void* to, const void* from, std::size_t bytes, const void* code) {
    if (!simt::running) return;
    // Most copies are of a thread's own memory, such as a structure that a function returns.
    const auto of_its_own = [bytes](const void* p) {
        const auto begin = reinterpret_cast<std::uintptr_t>(p);
        return bytes > 0 && simt::stacks.contains(begin) && simt::stacks.contains(begin + bytes - 1);
    };
    const bool hears_from = from && !of_its_own(from), hears_to = !of_its_own(to);
    if (!hears_from || !hears_to) meter::the_meter.settle_overwrite();
    for (std::size_t i = 0; (hears_from || hears_to) && i < bytes; ++i) {
        if (hears_from)
            heard(static_cast<const std::byte*>(from) + i, 1, Verb::read, static_cast<const char*>(code) - 1);
        if (hears_to) heard(static_cast<const std::byte*>(to) + i, 1, Verb::write, code);
    }
}

/// The compiler's description of an array and of its index.
struct IndexedType {
    std::uint16_t kind,
        info;      // of an integer: 0, and twice the logarithm of its bits, plus 1 if signed
    char name[1];  // "'float [32]'"
};
struct Indexed {
    const char* file;
    std::uint32_t line, column;
    const IndexedType *array, *index;
};

void heard_index(const void* place, const void* value) {
    const auto& at = *static_cast<const Indexed*>(place);
    const auto bits = std::min(64u, 1u << (at.index->info >> 1));
    const auto number = reinterpret_cast<std::uintptr_t>(value) << (64 - bits);
    const auto text = at.index->info & 1 ? std::to_string(static_cast<std::int64_t>(number) >> (64 - bits))
                                         : std::to_string(number >> (64 - bits));
    std::string type = at.array->name;  // clang has no blank there: "'float[32]'"
    if (const auto bracket = type.find('['); bracket != std::string::npos && type[bracket - 1] != ' ')
        type.insert(bracket, 1, ' ');
    meter::the_meter.refuse_index(text, type, at.file, at.line);
}

}  // namespace

extern "C" {

#define METER_ACCESS(n)                                                                                     \
    void __tsan_read##n(void* p) { plain<n, Verb::read>(p, METER_CODE); }                                   \
    void __tsan_write##n(void* p) { plain<n, Verb::write>(p, METER_CODE); }                                 \
    void __tsan_unaligned_read##n(void* p) { heard_range(p, n, Verb::read, METER_CODE); }                   \
    void __tsan_unaligned_write##n(void* p) { heard_range(p, n, Verb::write, METER_CODE); }                 \
    void __tsan_volatile_read##n(void* p) { heard(p, n, Verb::volatile_read, METER_CODE); }                 \
    void __tsan_volatile_write##n(void* p) { heard(p, n, Verb::volatile_write, METER_CODE); }               \
    void __tsan_unaligned_volatile_read##n(void* p) { heard_range(p, n, Verb::volatile_read, METER_CODE); } \
    void __tsan_unaligned_volatile_write##n(void* p) { heard_range(p, n, Verb::volatile_write, METER_CODE); }
METER_ACCESS(1)
METER_ACCESS(2)
METER_ACCESS(4)
METER_ACCESS(8)
METER_ACCESS(16)
#undef METER_ACCESS

void* simt_memcpy(void* to, const void* from, unsigned long bytes) {
    heard_copy(to, from, bytes, METER_CODE);
    return std::memcpy(to, from, bytes);
}
void* simt_memmove(void* to, const void* from, unsigned long bytes) {
    heard_copy(to, from, bytes, METER_CODE);
    return std::memmove(to, from, bytes);
}
void* simt_memset(void* to, int value, unsigned long bytes) {
    heard_copy(to, nullptr, bytes, METER_CODE);
    return std::memset(to, value, bytes);
}

// Called by -fsanitize=bounds for an index out of bounds; the second one with -fno-sanitize-recover.
void __ubsan_handle_out_of_bounds(void* place, void* index) { heard_index(place, index); }
void __ubsan_handle_out_of_bounds_abort(void* place, void* index) { heard_index(place, index); }
// Called for each index, if clang compiles the kernel (metering_clang.py).
void simt_check_index(bool fits, void* place, void* index) {
    if (!fits) heard_index(place, index);
}

void __tsan_read_range(void* p, unsigned long bytes) { heard_range(p, bytes, Verb::read, METER_CODE); }
void __tsan_write_range(void* p, unsigned long bytes) { heard_range(p, bytes, Verb::write, METER_CODE); }
void __tsan_init() {}
void __tsan_func_entry(void*) {
    if (meter::the_meter.listening()) meter::the_meter.check_stack(__builtin_frame_address(0), METER_CODE);
}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// Called by the host code of a step: for static variables with a constructor, shared_ptr, std::atomic.
// Kernels have atomics of their own.
#define METER_ATOMIC(bits, Type)                                                                       \
    Type __tsan_atomic##bits##_load(const volatile Type* p, int) {                                     \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                  \
    void __tsan_atomic##bits##_store(volatile Type* p, Type v, int) {                                  \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                  \
    Type __tsan_atomic##bits##_exchange(volatile Type* p, Type v, int) {                               \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                            \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_add(volatile Type* p, Type v, int) {                              \
        return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_sub(volatile Type* p, Type v, int) {                              \
        return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_and(volatile Type* p, Type v, int) {                              \
        return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_or(volatile Type* p, Type v, int) {                               \
        return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                              \
    }                                                                                                  \
    Type __tsan_atomic##bits##_fetch_xor(volatile Type* p, Type v, int) {                              \
        return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile Type* p, Type* old, Type v, int, int) { \
        return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
    }                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile Type* p, Type* old, Type v, int, int) {   \
        return __atomic_compare_exchange_n(p, old, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    }
METER_ATOMIC(8, std::uint8_t)
METER_ATOMIC(16, std::uint16_t)
METER_ATOMIC(32, std::uint32_t)
METER_ATOMIC(64, std::uint64_t)
#undef METER_ATOMIC
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

void __sanitizer_cov_trace_pc() {
    if (meter::the_meter.listening() && simt::running->in_toolkit == 0) meter::the_meter.enter(METER_CODE);
}

}  // extern "C"
