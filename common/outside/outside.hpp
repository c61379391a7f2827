// The process of a step, and the judge outside of it. The judge never loads a step: it calls its functions in
// the step's process, shares the memory of buffers with it, and gets a record of what was observed there.
// That process runs the kernels, and leaves host code to another one.
#pragma once
#include "watch.hpp"

#include <cstdint>
#include <string>

namespace kata {

/// Loads a module and runs it as the judge on the other end of `channel` asks. `memory` is the file of its
/// buffers. Returns if it cannot be loaded, or no module is.
void run_step(int channel, int memory);

/// A request, as it is sent.
struct SentRequest {
    Request request;
    std::uint32_t did, memory;  // indices of the names, in place of pointers
};
inline constexpr const char *names_of_did[] = {"runs", "load", "store", "atomic"},
                            *names_of_memory[] = {"", "global", "shared", "constant"};

/// The position of a function in the program, which is the same in both processes. They run one program at
/// different addresses.
std::intptr_t offset_in_program(const void* function);
void* at_offset_in_program(std::intptr_t);

}  // namespace kata
