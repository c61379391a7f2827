// Selects the blocks of a launch to run, and the processes that run them.
#pragma once
#include "simt/runtime.hpp"

#include <cstddef>

namespace simt {

/// Runs the blocks of a launch that the conditions select. Shared memory starts filled with `garbage`.
void run_once(const Launch&, std::byte garbage);

}  // namespace simt
