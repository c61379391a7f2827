// Messages about a launch, and about a block that does not end.
#pragma once
#include "simt/block.hpp"
#include "simt/probe.hpp"

#include <string>

namespace simt {

// A `probe` may be null.

/// Groups the threads of a block that cannot go on by what each waits for.
std::string why_stuck(const Block&, const Probe* probe);

/// Names the thread that still runs or polls after this number of seconds: the running one, or else one that
/// can go on. Empty if none does so for long. `in_vain`: nothing will change the polled memory.
std::string spinning(const Block&, double seconds, bool in_vain, const Probe* probe);

/// If the step has launched more than once, says which launch this is and the values of its integer
/// parameters: "\n  in the 2nd launch, in x.cu:12: sum<<<1, 1024>>> with n = 5".
std::string which_launch(const Launch&, const Probe* probe);

/// Returns a hint if the grid size equals one of the launch's integer arguments: the number of threads was
/// probably taken for the number of blocks. Otherwise empty.
std::string blocks_for_threads(const Launch&, const Probe* probe);

}  // namespace simt
