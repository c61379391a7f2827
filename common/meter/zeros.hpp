// Zeroed memory whose pages are allocated at the first access. calloc() does the same unless MALLOC_PERTURB_
// is set, as by Meson: then glibc writes to all of it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <sys/mman.h>

namespace meter {

struct Unmap {
    std::size_t bytes = 0;
    void operator()(void* memory) const { munmap(memory, bytes); }
};
/// T must be valid if all of its bytes are zero.
template <class T>
using Zeros = std::unique_ptr<T[], Unmap>;

/// Returns null if there is no memory.
template <class T>
Zeros<T> zeros(std::size_t count) {
    const auto bytes = std::max<std::size_t>(count, 1) * sizeof(T);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return {memory == MAP_FAILED ? nullptr : static_cast<T*>(memory), Unmap{bytes}};
}

}  // namespace meter
