// The steps of a chapter as data: one row per step, in the chapter's suite.
#pragma once
#include "counters.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// States: "The step needs at most 1 / `least` of the `quantity` that the solution of step `worse` needs."
struct Claim {
    enum class Standing {
        asserted,  ///< tested
        refuted,  ///< claimed by a document but not true on today's hardware: reported, and tested on request
    };
    std::string_view worse;
    Quantity quantity;  ///< counted on the base shape, or "milliseconds": timed
    double least;
    std::string_view why;     ///< one sentence for the author of a step that fails the claim
    std::string_view source;  ///< the document that makes the claim
    Standing standing = Standing::asserted;
    std::optional<int> variant = {};  ///< of the timed problem
    /// "sm_90" if the margin is too small to promise on devices where it was not measured.
    std::string_view only_on = "";
};

/// Counts of the step under test and of its solution, by name of the shape.
class Counted {
  public:
    virtual ~Counted() = default;
    virtual const Counts& operator()(std::string_view shape) const = 0;
    virtual const Counts& of_solution(std::string_view shape) const = 0;
};

/// The purpose of a step that no comparison with its solution shows: a number with a limit.
struct Idea {
    std::string_view lacking;  ///< what a step beyond the limit does: "lanes of a warp meet at one counter"
    std::string number_is;
    /// Returns std::nullopt if the number says nothing about the step.
    std::function<std::optional<double>(const Counted&)> number;
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    bool of_chain = false;  ///< the number is the length of the longest chain
};

/// An allowance for correct kernels of another style, beyond the limits that hold for all chapters.
struct Allowance {
    Quantity quantity;
    /// How many times as much as the solution a kernel may need. For "milliseconds": for every kernel but the
    /// solution, timed claims are divided by this factor.
    double factor;
    std::string_view shape = "";  ///< on this shape, or variant of the timed problem; empty: on every one
};

/// The amount that a solution needs on a shape in total, as its lesson quotes it.
struct Figure {
    std::string_view shape;
    Quantity quantity;
    double value;
    double room = 0;  ///< allowed deviation: values may depend on where a compiler ends a basic block
};

struct Step {
    std::string_view name;         ///< "07_look_back": its file name without the extension
    std::string_view before = "";  ///< the step that it improves; empty for the first step of a ladder
    const char* entry = nullptr;   ///< the function that it defines
    /// Tags, such as "[whole][stays]". A shape or a test case with such a tag applies to the steps that have
    /// it.
    std::string_view traits = "";
    int tile = 0;  ///< elements that a block of the solution processes at a time; 0 if nothing depends on it
    std::vector<Claim> beats = {};
    std::vector<Idea> ideas = {};
    std::vector<Allowance> allows = {};
    std::vector<Figure> figures = {};
};

/// True if the step has all of the tags.
bool has_traits(const Step&, std::string_view tags);
/// Splits "[whole][stays]" into "[whole]" and "[stays]".
std::vector<std::string> tags_of(std::string_view tags);

}  // namespace kata
