// On a GPU: modules and tests share a process.
#include "judge/first_steps.hpp"
#include "judge/module.hpp"

namespace kata {

std::optional<int> judge_from_outside(std::span<char* const>) { return std::nullopt; }
void expect_steps() {}

}  // namespace kata
