// Stacks for fibers.
#pragma once
#include "simt/image.hpp"

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <vector>

namespace simt {

/// The stacks of all fibers. One reservation, so that one comparison tells whether a variable is a thread's
/// own.
extern Range stacks;
inline constexpr std::size_t stack_bytes = 128 * 1024;  // bytes of each stack; unused pages take no memory

class StackPool {
  public:
    static constexpr unsigned most_threads = 20 * 1024;  ///< that have a stack at the same time

    /// Returns the lowest address of a stack. Throws std::bad_alloc if there is no address space for it.
    std::byte* take();
    void give(std::byte* stack) { free_.push_back(stack); }
    /// Unpoisons frames that never returned, for AddressSanitizer.
    void forget_frames();

  private:
    void grow();

    static constexpr std::size_t below = 8;  // room to detect an overflow
    static constexpr std::size_t most = below + most_threads;
    std::byte* base_ = nullptr;
    std::size_t used_ = below;
    std::vector<std::byte*> free_;
};

StackPool& stack_pool();

/// Hands a stack of the pool to Boost.Context.
struct PooledStack {
    std::byte* stack;
    boost::context::stack_context allocate() const;
    void deallocate(boost::context::stack_context&) const {}
};

}  // namespace simt
