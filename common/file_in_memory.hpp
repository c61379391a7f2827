// A file that exists only in memory.
#pragma once
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kata {

/// Returns its descriptor, which programs that are started do not inherit; -1 if there is none.
inline int file_in_memory() {
#if defined(__linux__)
    return memfd_create("kata", MFD_CLOEXEC);
#else
    return -1;
#endif
}

}  // namespace kata
