// Stacks for fibers.
#pragma once
#include "simt/image.hpp"

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <vector>

namespace simt {

/// The stacks of all fibers: one reservation, so that "is this a thread's own variable" is one comparison.
extern Range stacks;
inline constexpr std::size_t stack_bytes = 128 * 1024;  // of each; only what is used takes memory

class StackPool {
  public:
    static constexpr unsigned most_threads = 20 * 1024;  ///< that have a stack at the same time

    /// The lowest address of a stack. Throws std::bad_alloc where there is no address space for it.
    std::byte* take();
    void give(std::byte* stack) { free_.push_back(stack); }
    /// Frames that were left without a return are still forbidden ground to AddressSanitizer.
    void forget_frames();

  private:
    void grow();

    static constexpr std::size_t below = 8;  // room for an overflow to be found in
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
