// How fast the kernels of a chapter are, over sizes from a fraction of a cache to gigabytes, beside a
// vendor's library and beside what no kernel can beat.
//
// Runs of a kernel and of the library alternate in pairs (timing/paired.hpp). Each run takes the next of
// several copies of the problem, which together are many times as large as the L2 cache, so none finds its
// data there. Behind the loop the kernel goes over all copies once more, into outputs that have been
// overwritten, and every copy's answer is compared: what is fast and wrong is wrong.
#pragma once
#include "judge/module.hpp"
#include "stopwatch.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kata::bench {

/// Some copies of one problem in the memory of the device.
class Problem {
  public:
    virtual ~Problem() = default;
    /// Runs the kernel of the module over one copy, and nothing but the kernel.
    virtual void run(const Module&, std::size_t copy) = 0;
    /// Makes the inputs what they were, and the outputs what no right kernel leaves.
    virtual void renew() = 0;
    /// What is wrong with the answer in that copy, in one line.
    virtual std::optional<std::string> fault(std::size_t copy) = 0;
};

/// What has to be done with a problem's bytes at least.
enum class Floor { copy, read };

/// A problem of one size.
struct Case {
    std::string name;     ///< "sum of 2^28 floats"
    const char* entry;    ///< who exports this function solves it
    std::size_t bytes;    ///< of one copy in the memory of the device
    double useful_bytes;  ///< that any solution must move
    double operations;    ///< that it must do, in single precision; 0 where they are not to be told
    Floor floor = Floor::copy;
    std::function<std::unique_ptr<Problem>(std::size_t copies)> make = {};
};

/// What is run.
struct Entrant {
    std::string kind;  ///< "vendor", "step" or "mine", which is a student's; of a row also "floor"
    std::string name;
    std::function<void(Problem&, std::size_t copy)> run;
};

/// What an entrant has taken over a case.
struct Row {
    std::string name, kind, entrant;
    std::string verdict = {};  ///< "right", "open", or why it is wrong
    double milliseconds = 0;   ///< the median
    double spread = 0;         ///< of the times: half of what their middle half spans, in % of the median
    double gigabytes = 0;      ///< useful ones in a second
    double teraflops = 0;      ///< in a second
    double of_ceiling = 0;     ///< in %: the least time that the device can need, by the time taken
    double faster = 0;         ///< how many times as fast as the vendor; 0 where there is none
    double faster_lower = 0;   ///< the true ratio is not below it,
    double faster_upper = 0;   ///< nor above this, with a probability of 95 %
    int runs = 0;              ///< times that were taken
    std::size_t copies = 0;    ///< of the problem
};

/// The device, as far as it is asked.
struct Device {
    Stopwatch& watch;
    /// Does with one of so many copies of so many bytes, which are its own, what no kernel can avoid.
    std::function<std::function<void(std::size_t copy)>(Floor, std::size_t bytes, std::size_t copies)> floor;
    double flops_per_second;
};

/// Who listens.
struct Told {
    std::function<void(const Case&, const Entrant&)> begins;
    std::function<void(const Row&)> row;
    /// A case that is left out, and why, in one line.
    std::function<void(const Case&, const std::string&)> skipped;
};

/// How many copies of a case are run in turn: together eight times as large as the cache, or as many as there
/// is room for; 0 where there is no room for one.
std::size_t copies_of(std::size_t bytes, const Memory&);

/// Without the steps before the last `count`, and without what a student wrote for these. In order.
std::vector<Entrant> last_steps(std::vector<Entrant>, std::size_t count);

/// "1.50 GiB"
std::string gib(std::size_t bytes);

/// Times the entrants over the case, the floor first and then the vendor, if there is one. Returns whether no
/// answer was wrong. Throws what `told` throws, and kata::Error where a problem cannot be made.
bool run(const Case&, const std::vector<Entrant>&, const Device&, const Told&);

/// A field of CSV, on one line whatever it holds.
std::string field(const std::string& text);

}  // namespace kata::bench
