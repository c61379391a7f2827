// Which blocks of a launch are run, and by which processes.
#pragma once
#include "simt/runtime.hpp"

#include <cstddef>

namespace simt {

/// Runs the blocks of a launch that the conditions ask for. Shared memory starts filled with `garbage`.
void run_once(const Launch&, std::byte garbage);

}  // namespace simt
