// Which launches a device would take.
#pragma once
#include "simt/scheduler.hpp"

namespace simt {

/// Throws kata::Error for a launch that no device takes. Sets the grid's shared_limit.
void admit(Grid&);

}  // namespace simt
