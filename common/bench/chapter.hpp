// The problems of a chapter, one of each size and kind. They are defined in tests/bench.
#pragma once
#include "bench/bench.hpp"

namespace kata::bench {

extern const char* const chapter;
std::vector<Case> cases();

}  // namespace kata::bench
