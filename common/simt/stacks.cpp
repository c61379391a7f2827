#include "simt/stacks.hpp"

#include <cstdint>
#include <new>
#include <sys/mman.h>

extern "C" [[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, std::size_t);

namespace simt {

Range stacks;

std::byte* StackPool::take() {
    if (free_.empty()) grow();
    auto* stack = free_.back();
    free_.pop_back();
    return stack;
}

void StackPool::forget_frames() {
    if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(base_, used_ * stack_bytes);
}

void StackPool::grow() {
    if (base_ == nullptr) {
        void* p = mmap(nullptr, most * stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        base_ = static_cast<std::byte*>(p);
        stacks = {reinterpret_cast<std::uintptr_t>(base_),
                  reinterpret_cast<std::uintptr_t>(base_) + most * stack_bytes};
    }
    auto* stack = base_ + used_++ * stack_bytes;
    mprotect(stack, 4096, PROT_NONE);  // an overflow crashes instead of damaging a neighbor
    free_.push_back(stack);
}

StackPool& stack_pool() {
    static StackPool pool;
    return pool;
}

boost::context::stack_context PooledStack::allocate() const {
    boost::context::stack_context c;
    // Neighboring stacks start in different cache sets.
    c.size = stack_bytes - reinterpret_cast<std::uintptr_t>(stack) / stack_bytes * 320 % 8192;
    c.sp = stack + c.size;
    return c;
}

}  // namespace simt
