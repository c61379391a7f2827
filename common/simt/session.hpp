// The state that the launches of one observation share.
#pragma once
#include "observe.hpp"
#include "simt/runtime.hpp"
#include "simt/snapshot.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace simt {

struct Session {
    kata::Conditions conditions;
    std::uint64_t launches = 0;
    std::map<std::uint64_t, std::uint64_t> states = {};  // hash of device memory: the launch that left it so
    std::vector<std::string> idle = {}, spilled = {};
    std::vector<kata::Launching> launched = {};
    bool in_part = false, fragments = false;
    // Variables of a step whose launches were run in part are restored: a counter of blocks, say, would be
    // wrong in the next launch.
    Changes changes = {};
    kata::Observation::Next next = {};
    std::uint64_t blocks_promised = 1;  // per multiprocessor, by the __launch_bounds__ of the running kernel
};
/// The current one; null outside observations.
extern Session* session;
/// Last value returned by ticks().
extern long long last_tick;

/// Returns the number of multiprocessors that the device claims to have.
int multiprocessors();

/// Blocks at the ends of a grid that are run if Conditions::only_ends leaves out the others.
inline constexpr std::uint64_t blocks_at_ends = 8;
/// True if Conditions::only_ends leaves out blocks of this launch.
bool is_run_in_part(const Launch&);

}  // namespace simt
