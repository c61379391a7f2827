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

/// Runs the step once more under a watcher. Returns which thread and line stored the element, and how what it
/// had loaded differs from what the solution loads; if no thread stored it, or part of an input was never
/// loaded, which threads accessed the elements on either side of the gap. Returns nothing if nothing is
/// known, as on a GPU. The solution may be null.
std::string origin(const Conditions&, const Element&, const Solve& step, const Solve& solution);

/// Runs a step that has a race and its solution under a watcher. Returns how the parts of the race's array
/// overlap that its blocks store, if they do not in the solution. If both launch their kernels alike, also
/// returns which elements of it one of the threads loads or stores, and does not in the solution.
std::string unlike_solution(const Conditions&, const Race&, const Solve& step, const Solve& solution);

}  // namespace kata
