// What the text of a kernel says that no count does: which loops nvcc unrolls, and what an atomic adds.
#pragma once
#include <string>
#include <vector>

namespace estimate {

/// What is known of the instructions of one line.
struct Line {
    /// Rounds of the innermost loop around it that nvcc makes one, so that their loads are under way
    /// together: as many as a pragma says, or four where it says nothing; 0 outside of loops and where it
    /// makes one of all.
    unsigned rounds = 0;
    /// The innermost loop around it has a number of rounds that is known when it is compiled, or a pragma
    /// that says to unroll it, none that forbids it, and no condition in it that nvcc jumps for: it takes no
    /// comparison and no jump, and addresses are constants apart.
    bool unrolled = false;
    /// The innermost loop around it, of which nvcc makes rounds one, has conditions, each for one statement:
    /// it does not jump, but makes a comparison say for which lanes the statement holds.
    bool predicated = false;
    /// An atomic adds a number that stands there, for which the lanes of a warp need not take turns.
    bool adds_a_number = false;
    /// Divisions and remainders by what is no constant: each takes a dozen instructions.
    unsigned divisions = 0;
};

/// Of each line of a source, the first at 0. A bound that a constant of another file is part of is not known.
std::vector<Line> lines_in(const std::string& source);

}  // namespace estimate
