// What the tests know of a step, as data: one row for each step, in the suite of its chapter.
#pragma once
#include "counters.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// "The step needs at most 1 / `least` of the `quantity` that the solution of step `worse` needs."
struct Claim {
    enum class Standing {
        asserted,  ///< tested
        refuted,   ///< claimed by a document and not true of today's hardware; reported, and tested on demand
    };
    std::string_view worse;
    Quantity quantity;  ///< counted on the base shape, or "milliseconds": timed
    double least;
    std::string_view why;     ///< a sentence for the author of a step that fails the claim
    std::string_view source;  ///< the document that makes the claim
    Standing standing = Standing::asserted;
    std::optional<int> variant = {};  ///< of the timed problem
    /// "sm_90" where the margin is too thin to be promised on devices on which nobody measured it.
    std::string_view only_on = "";
};

/// Counts of the step under test and of solutions, by the name of the shape.
class Counted {
  public:
    virtual ~Counted() = default;
    virtual const Counts& operator()(std::string_view shape) const = 0;
    virtual const Counts& of_solution(std::string_view shape) const = 0;
};

/// What a step is there for, where no comparison with its solution shows it: a number that must not be larger
/// or smaller than a limit.
struct Idea {
    std::string_view lacking;  ///< what a step beyond the limit does: "lanes of a warp meet at one counter"
    std::string number_is;
    /// Nothing where the number says nothing of the step.
    std::function<std::optional<double>(const Counted&)> number;
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    std::string_view cure = "";  ///< one line
};

/// What right kernels of another style may need, beyond the limits that hold for all chapters.
struct Allowance {
    Quantity quantity;
    double factor;                ///< times what the solution needs
    std::string_view shape = "";  ///< on this shape; empty: on every shape
};

/// What a solution needs in all on a shape, as its lesson quotes it.
struct Figure {
    std::string_view shape;
    Quantity quantity;
    double value;
    double room = 0;  ///< on either side, for what depends on where a compiler ends a basic block
};

struct Step {
    std::string_view name;         ///< "07_look_back": its file without the ending
    std::string_view before = "";  ///< the step that it is to better; empty where a ladder begins
    const char* entry = nullptr;   ///< the function that it defines
    /// Tags, such as "[whole][stays]". A shape or a test case with such a tag is for the steps that have it.
    std::string_view traits = "";
    int tile = 0;  ///< elements that a block of the solution takes at a time; 0 where nothing depends on it
    std::vector<Claim> beats = {};
    std::vector<Idea> ideas = {};
    std::vector<Allowance> allows = {};
    std::vector<Figure> figures = {};
};

/// True if the step has each of the tags.
bool has_traits(const Step&, std::string_view tags);
/// Splits "[whole][stays]" into "[whole]" and "[stays]".
std::vector<std::string> tags_of(std::string_view tags);

}  // namespace kata
