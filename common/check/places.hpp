// Where the wrong elements of an output lie.
#pragma once
#include "check/grid.hpp"

#include <optional>
#include <span>
#include <string>

namespace kata {

/// Returns the narrowest place that holds all wrong elements, such as the last block, the border or every
/// 32nd index; nothing if chance explains every such place. `wrong` are their indices, in ascending order.
/// `at_random`: the data determine which elements are wrong, so residues of indices mean nothing.
std::optional<std::string> describe_places(const Grid&, std::span<const Index> wrong, bool at_random);

}  // namespace kata
