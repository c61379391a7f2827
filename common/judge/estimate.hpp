// What a step would take on a GPU that is not there.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --estimate MODULE --device FILE [--variant NUMBER] [--solution MODULE]: the timed problem on the
/// device that the file describes (estimate/describe.cu), as lines "name value": estimated_milliseconds,
/// "problem TEXT" of the timed problem of the chapter, "bound WHAT", for each thing that is kept busy "need
/// MILLISECONDS WHAT", the longest first, for each launch "launch MILLISECONDS BLOCKS THREADS WHAT", with
/// what it is bound by, and for lines of the source "line MILLISECONDS FILE:NUMBER WHAT", how long each keeps
/// busy what bounds its launch;
/// "-" in place of FILE:NUMBER is what belongs to none. For each launch "alone TEXT" says how
/// many blocks there are and what the chain through one of them has. With --solution both are counted first,
/// and a step whose blocks are much more unequal than the solution's has none of these, for only some of its
/// blocks are looked at. "fault TEXT" says why there is no estimate.
int estimate(std::span<char* const> arguments);

}  // namespace kata
