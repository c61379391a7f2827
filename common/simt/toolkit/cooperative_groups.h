// Cooperative groups: the threads of a block, a tile of a warp, or the active lanes, as an object with
// members. The members call __syncthreads and the functions of a warp.
//
// Not supported: barriers of a grid, clusters, and tiles larger than a warp.
#pragma once
#include "simt/cuda.hpp"

#include <concepts>

namespace simt {

/// Values that the threads of `mask` shuffle: up to 32 bytes, eight at a time. They need not be trivially
/// assignable: under the meter a structure with a vector in it (types.hpp) is not.
template <class T>
concept Movable = std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T> &&
                  sizeof(T) <= 32;

/// Returns the value of lane `source` of the warp; the caller's own if the mask does not name that lane.
template <Movable T>
__device__ T from_lane(unsigned mask, T value, int source, const char* name, Site site) {
    constexpr std::size_t words = (sizeof(T) + 7) / 8;
    std::uint64_t word[words] = {};
    __builtin_memcpy(word, &value, sizeof value);
    for (std::size_t i = 0; i < words; ++i)
        word[i] = exchange(Collective::shuffle, mask, word[i], source, name, site);
    __builtin_memcpy(static_cast<void*>(&value), word, sizeof value);
    return value;
}

/// Returns the bits of `lanes` that `mask` selects, packed.
SIMT_UNSEEN __device__ unsigned packed(unsigned lanes, unsigned mask) {
    unsigned result = 0;
    for (int lane = 0, rank = 0; lane < 32; ++lane)
        if (mask >> lane & 1) result |= (lanes >> lane & 1) << rank++;
    return result;
}
/// Returns the lane of this rank in the mask; -1 if there is none.
SIMT_UNSEEN __device__ int lane_of(unsigned rank, unsigned mask) {
    for (int lane = 0; lane < 32; ++lane)
        if ((mask >> lane & 1) != 0 && rank-- == 0) return lane;
    return -1;
}

}  // namespace simt

namespace cooperative_groups {

/// Any of the groups below except the grid: a block, or lanes of a warp.
class thread_group {
  public:
    __device__ unsigned long long size() const {
        return mask_ == 0 ? blockDim.x * blockDim.y * blockDim.z : __popc(mask_);
    }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ unsigned long long thread_rank() const {
        return mask_ == 0 ? in_block() : __popc(mask_ & ((1u << simt::lane()) - 1));
    }
    __device__ void sync(simt::Site site = simt::Site::here()) const {
        if (mask_ == 0)
            simt::barrier(1, "sync", site);
        else
            simt::exchange(simt::Collective::sync, mask_, 0, 0, "sync", site);
    }

  protected:
    __device__ constexpr explicit thread_group(unsigned mask) : mask_(mask) {}
    __device__ static unsigned in_block() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ static unsigned tile_mask(unsigned size) {
        return (size == 32 ? ~0u : (1u << size) - 1) << (simt::lane() & ~(size - 1));
    }

    unsigned mask_;  // of lanes; 0 means the block

    __device__ friend thread_group tiled_partition(const thread_group& parent, unsigned size);
};

class thread_block : public thread_group {
  public:
    __device__ static void sync(simt::Site site = simt::Site::here()) { simt::barrier(1, "sync", site); }
    __device__ static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ static unsigned num_threads() { return size(); }
    __device__ static unsigned thread_rank() { return in_block(); }
    __device__ static dim3 group_index() { return blockIdx; }
    __device__ static dim3 thread_index() { return threadIdx; }
    __device__ static dim3 group_dim() { return blockDim; }
    __device__ static dim3 dim_threads() { return blockDim; }

  private:
    __device__ thread_block() : thread_group(0) {}
    __device__ friend thread_block this_thread_block();
};
__device__ inline thread_block this_thread_block() { return {}; }

class grid_group {
  public:
    __device__ static unsigned long long size() { return num_blocks() * thread_block::size(); }
    __device__ static unsigned long long num_threads() { return size(); }
    __device__ static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    __device__ static unsigned long long num_blocks() {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
    }
    __device__ static unsigned long long block_rank() {
        return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
               blockIdx.x;
    }
    __device__ static dim3 dim_blocks() { return gridDim; }
    __device__ static dim3 group_dim() { return gridDim; }
    __device__ static dim3 block_index() { return blockIdx; }
    __device__ static dim3 thread_index() { return threadIdx; }
    /// Blocks wait for each other only if launched by cudaLaunchCooperativeKernel.
    __device__ static bool is_valid() { return false; }
    __device__ static void sync(simt::Site site = simt::Site::here()) { simt::no_grid_barrier(site); }
};
__device__ inline grid_group this_grid() { return {}; }

class coalesced_group;
/// The lanes of a group with the same value.
template <class Group>
__device__ coalesced_group binary_partition(const Group& group, bool predicate,
                                            simt::Site = simt::Site::here());
template <class Group, std::integral Label>
__device__ coalesced_group labeled_partition(const Group& group, Label label,
                                             simt::Site = simt::Site::here());

/// Lanes of a warp, by rank.
class coalesced_group : public thread_group {
  public:
    __device__ unsigned size() const { return __popc(mask_); }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const { return __popc(mask_ & ((1u << simt::lane()) - 1)); }
    __device__ unsigned meta_group_rank() const { return meta_rank_; }
    __device__ unsigned meta_group_size() const { return meta_size_; }

    template <simt::Movable T>
    __device__ T shfl(T value, unsigned rank, simt::Site site = simt::Site::here()) const {
        return from_rank(value, rank, "shfl", site);
    }
    template <simt::Movable T>
    __device__ T shfl_up(T value, unsigned delta, simt::Site site = simt::Site::here()) const {
        const unsigned rank = thread_rank();
        return from_rank(value, rank >= delta ? rank - delta : rank, "shfl_up", site);
    }
    template <simt::Movable T>
    __device__ T shfl_down(T value, unsigned delta, simt::Site site = simt::Site::here()) const {
        const unsigned rank = thread_rank();
        return from_rank(value, rank + delta < size() ? rank + delta : rank, "shfl_down", site);
    }
    __device__ int any(int predicate, simt::Site site = simt::Site::here()) const {
        return vote(predicate != 0, "any", site) != 0;
    }
    __device__ int all(int predicate, simt::Site site = simt::Site::here()) const {
        return vote(predicate == 0, "all", site) == 0;
    }
    /// Returns a bit for each thread of the group, by rank.
    __device__ unsigned ballot(int predicate, simt::Site site = simt::Site::here()) const {
        return simt::packed(vote(predicate != 0, "ballot", site), mask_);
    }
    template <class T>
    __device__ unsigned match_any(T value, simt::Site site = simt::Site::here()) const {
        return simt::packed(like(value, "match_any", site), mask_);
    }
    template <class T>
    __device__ unsigned match_all(T value, int& all, simt::Site site = simt::Site::here()) const {
        const unsigned same = simt::packed(like(value, "match_all", site), mask_);
        all = same == simt::packed(mask_, mask_);
        return all ? same : 0;
    }

  protected:
    __device__ coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
        : thread_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
    template <class T>
    __device__ T from_rank(T value, unsigned rank, const char* name, simt::Site site) const {
        const int lane = simt::lane_of(rank, mask_);
        return simt::from_lane(mask_, value, lane < 0 ? simt::lane() : lane, name, site);
    }
    __device__ unsigned vote(bool predicate, const char* name, simt::Site site) const {
        return static_cast<unsigned>(
            simt::exchange(simt::Collective::ballot, mask_, predicate, 0, name, site));
    }
    template <class T>
    __device__ unsigned like(T value, const char* name, simt::Site site) const {
        return static_cast<unsigned>(
            simt::exchange(simt::Collective::match, mask_, simt::to_word(value), 0, name, site));
    }

    unsigned meta_rank_, meta_size_;

    friend struct Lanes;
    __device__ friend coalesced_group coalesced_threads(simt::Site);
    __device__ friend coalesced_group tiled_partition(const coalesced_group& parent, unsigned size);
    template <class Group>
    __device__ friend coalesced_group binary_partition(const Group&, bool, simt::Site);
    template <class Group, std::integral Label>
    __device__ friend coalesced_group labeled_partition(const Group&, Label, simt::Site);
};

/// The lanes that are active with the caller.
__device__ inline coalesced_group coalesced_threads(simt::Site site = simt::Site::here()) {
    return {simt::active_mask(site), 0, 1};
}

/// `Size` neighboring threads of a warp: a power of two, at most 32.
template <unsigned Size, class Parent = void>
class thread_block_tile : public coalesced_group {
    static_assert(Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16 || Size == 32,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads on the CPU back end");

  public:
    /// Converts from a tile of the same size of any group.
    template <class Other>
    requires(std::is_void_v<Parent>) __device__ thread_block_tile(const thread_block_tile<Size, Other>& tile)
        : coalesced_group(tile) {}

    __device__ static constexpr unsigned size() { return Size; }
    __device__ static constexpr unsigned num_threads() { return Size; }
    __device__ static unsigned thread_rank() { return simt::lane() & (Size - 1); }

    template <simt::Movable T>
    __device__ T shfl(T value, int rank, simt::Site site = simt::Site::here()) const {
        return from(value, rank & (Size - 1), "shfl", site);
    }
    template <simt::Movable T>
    __device__ T shfl_up(T value, unsigned delta, simt::Site site = simt::Site::here()) const {
        const unsigned rank = thread_rank();
        return from(value, rank >= delta ? rank - delta : rank, "shfl_up", site);
    }
    template <simt::Movable T>
    __device__ T shfl_down(T value, unsigned delta, simt::Site site = simt::Site::here()) const {
        const unsigned rank = thread_rank();
        return from(value, rank + delta < Size ? rank + delta : rank, "shfl_down", site);
    }
    template <simt::Movable T>
    __device__ T shfl_xor(T value, unsigned lanes, simt::Site site = simt::Site::here()) const {
        const unsigned rank = thread_rank();
        return from(value, (rank ^ lanes) < Size ? rank ^ lanes : rank, "shfl_xor", site);
    }

  private:
    template <class Group>
    __device__ thread_block_tile(const Group& parent, unsigned rank, unsigned tiles)
        : coalesced_group(tile_mask(Size), rank, tiles) {
        (void)parent;
    }
    template <class T>
    __device__ T from(T value, unsigned rank, const char* name, simt::Site site) const {
        const int first = simt::lane() & ~static_cast<int>(Size - 1);
        return simt::from_lane(mask_, value, first + static_cast<int>(rank), name, site);
    }

    template <unsigned S, class P>
    __device__ friend thread_block_tile<S, P> tiled_partition(const P& parent);
    __device__ friend thread_block_tile<1, void> this_thread();
};

template <unsigned Size, class Parent>
__device__ thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    const auto rank = static_cast<unsigned>(parent.thread_rank());
    return {parent, rank / Size, (static_cast<unsigned>(parent.size()) + Size - 1) / Size};
}
__device__ inline thread_block_tile<1, void> this_thread() { return {this_thread_block(), 0, 1}; }

/// Tiles whose size is known at run time: 1, 2, 4, 8, 16 or 32.
__device__ inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
    (void)parent;
    return thread_group(thread_group::tile_mask(size));
}
/// Tiles of any lanes, `size` at a time by rank.
__device__ inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
    const unsigned first = parent.thread_rank() / size * size;
    unsigned mask = 0;
    for (unsigned rank = first; rank < first + size && rank < parent.size(); ++rank)
        mask |= 1u << simt::lane_of(rank, parent.mask_);
    return {mask, parent.thread_rank() / size, (parent.size() + size - 1) / size};
}

template <class Group>
__device__ coalesced_group binary_partition(const Group& group, bool predicate, simt::Site site) {
    const coalesced_group& lanes = group;
    const unsigned yes = lanes.vote(predicate, "binary_partition", site);
    return {predicate ? yes : lanes.mask_ & ~yes, predicate ? 0u : 1u, 2};
}
template <class Group, std::integral Label>
__device__ coalesced_group labeled_partition(const Group& group, Label label, simt::Site site) {
    const coalesced_group& lanes = group;
    return {lanes.like(label, "labeled_partition", site), 0, 1};
}

template <class Group>
__device__ void sync(const Group& group, simt::Site site = simt::Site::here()) {
    group.sync(site);
}
template <class Group>
__device__ auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
__device__ auto group_size(const Group& group) {
    return group.num_threads();
}

/// Returns the mask of a group of lanes, for the headers in cooperative_groups/.
struct Lanes {
    __device__ static unsigned of(const coalesced_group& group) { return group.mask_; }
};

// Operators of reduce() and the scans.
template <class T>
struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};

}  // namespace cooperative_groups
