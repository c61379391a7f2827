// The processes of the first modules that are loaded.
#pragma once

namespace kata {

/// Forks them, while this process knows nothing that a step must not. That takes less time than to start the
/// program anew. Does nothing on a GPU, where modules and tests share a process.
void expect_steps();

}  // namespace kata
