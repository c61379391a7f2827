// The minimal work of a kernel that reads or copies a number of bytes, at the full speed of the device.
#pragma once
#include <cstddef>

namespace kata::gpu {

/// Both are asynchronous, on the default stream. The pointers are to device memory and aligned to 16 bytes.
void copy_bytes(void* to, const void* from, std::size_t bytes);
/// Omits the bytes after the last multiple of 16. `sink`, 4 bytes of device memory, is hardly ever written.
void read_bytes(const void* from, std::size_t bytes, unsigned* sink);

}  // namespace kata::gpu
