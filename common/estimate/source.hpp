// Facts from the text of a kernel that counts do not show: which loops nvcc unrolls, and what an atomic adds.
#pragma once
#include <string>
#include <vector>

namespace estimate {

/// Facts about the instructions of one line.
struct Line {
    /// Rounds of the innermost loop that nvcc unrolls together, so that their loads are in flight together:
    /// as many as a pragma says, or four without one; 0 outside loops and if all rounds are unrolled.
    unsigned rounds = 0;
    /// The innermost loop is fully unrolled: its trip count is known at compile time or a pragma says so, no
    /// pragma forbids it, and no condition in it needs a jump. Such a loop takes no comparison and no jump,
    /// and its addresses are constants apart.
    bool unrolled = false;
    /// The innermost loop, of which nvcc unrolls some rounds, has conditions for one statement each: they are
    /// compiled to predicates instead of jumps.
    bool predicated = false;
    /// An atomic adds a literal number: the lanes of a warp are then not serialized.
    bool adds_a_number = false;
    /// Divisions and remainders by non-constants: each takes a dozen instructions.
    unsigned divisions = 0;
};

/// Returns the facts for each line of a source, the first at 0. Bounds with constants of other files are
/// unknown.
std::vector<Line> lines_in(const std::string& source);

}  // namespace estimate
