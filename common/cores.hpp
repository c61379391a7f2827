// The number of processes that can compute at the same time.
#pragma once
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#if defined(__linux__)
#include <sched.h>
#endif

namespace kata {

/// Returns the number of processors that this process may run on.
inline unsigned processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

/// Returns how many processors the process's control groups (version 2) let it use at a time.
inline unsigned cores(unsigned processors = kata::processors(), const std::filesystem::path& system = "/") {
    std::ifstream groups(system / "proc/self/cgroup");
    std::string line;
    while (std::getline(groups, line) && !line.starts_with("0::/")) {
    }
    double most = processors;
    // Each enclosing group has a limit, too. A container may not see all groups.
    for (std::filesystem::path group = groups ? line.substr(4) : "";; group = group.parent_path()) {
        std::ifstream limit(system / "sys/fs/cgroup" / group / "cpu.max");
        double quota = 0, period = 0;  // stay 0 if the limit is the word "max"
        if (limit >> quota >> period) most = std::min(most, quota / period);
        if (group.empty()) break;
    }
    return static_cast<unsigned>(std::max(1L, std::lround(most)));
}

}  // namespace kata
