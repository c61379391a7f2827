// What a chapter adds: its problems, one of each size and kind. Each chapter's are in tests/bench.
#pragma once
#include "bench/bench.hpp"

namespace kata::bench {

extern const char* const chapter;
std::vector<Case> cases();

}  // namespace kata::bench
