// Estimates the time of a step on a GPU that is not present.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --estimate MODULE --device FILE [--variant NUMBER] [--solution MODULE]: the timed problem on the
/// device that FILE describes (estimate/describe.cu), as lines "name value":
///   estimated_milliseconds MILLISECONDS
///   problem TEXT, the chapter's timed problem
///   bound WHAT
///   need MILLISECONDS WHAT, for each busy resource, the longest first
///   launch MILLISECONDS BLOCKS THREADS WHAT, for each launch, with what limits it
///   line MILLISECONDS FILE:NUMBER WHAT, for lines of the source: how long each occupies what limits
///     its launch; FILE:NUMBER is "-" for the part that belongs to no line
///   alone TEXT, for each launch: the number of blocks and the chain through one of them
/// With --solution both are counted first. A step whose blocks are much more unequal than the solution's gets
/// no estimate, because only some of its blocks are observed. "fault TEXT" says why there is no estimate.
int estimate(std::span<char* const> arguments);

}  // namespace kata
