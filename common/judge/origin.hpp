// Traces a wrong element of a result to the lines and threads that stored it, or that left it out.
#pragma once
#include "observe.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kata {

/// An element of a result in device memory.
struct Element {
    std::size_t bytes;         ///< of each element
    std::size_t count;         ///< elements of the result
    std::vector<int> extents;  ///< elements along each axis, the fastest first
    std::size_t index;
};

/// Runs a step, and returns the array of its result on the device.
using Solve = std::function<const void*()>;

/// Runs the step once more under a watcher. Returns the thread and the line that stored the element, and how
/// its loads differ from the solution's. If no thread stored it, or part of an input was never loaded,
/// returns the threads that accessed the elements on either side of the gap. Returns nothing if nothing is
/// known, as on a GPU. The solution may be null.
std::string origin(const Conditions&, const Element&, const Solve& step, const Solve& solution);

/// Runs a step that has a race and its solution under a watcher. Returns how the parts of the race's array
/// that its blocks store overlap, if the solution's parts do not. If both launch their kernels alike, also
/// returns which elements of the array a thread loads or stores in the step only.
std::string unlike_solution(const Conditions&, const Race&, const Solve& step, const Solve& solution);

}  // namespace kata
