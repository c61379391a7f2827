// What no kernel that reads or moves a number of bytes can avoid, as fast as the device does it.
#pragma once
#include <cstddef>

namespace kata::gpu {

/// Both ask for it on the default stream and return. The pointers are to memory of the device and aligned to
/// 16 bytes.
void copy_bytes(void* to, const void* from, std::size_t bytes);
/// Bytes behind the last multiple of 16 are left out. `sink`, 4 bytes of the device, is written by chance.
void read_bytes(const void* from, std::size_t bytes, unsigned* sink);

}  // namespace kata::gpu
