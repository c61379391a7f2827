// Times the kernels of a chapter over sizes from a fraction of a cache to gigabytes, compared with a vendor's
// library and with a lower bound for any kernel.
//
// Runs of a kernel and of the library alternate in pairs (timing/paired.hpp). Each run uses the next of
// several copies of the problem. Together they are many times as large as the L2 cache, so no run finds its
// data there. Afterwards the kernel processes all copies once more, into outputs that have been overwritten,
// and every copy's result is compared: a fast but wrong kernel is reported as wrong.
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

/// Copies of one problem in device memory.
class Problem {
  public:
    virtual ~Problem() = default;
    /// Runs the kernel of the module over one copy. Does nothing else.
    virtual void run(const Module&, std::size_t copy) = 0;
    /// Restores the inputs and overwrites the outputs with values that no correct kernel leaves.
    virtual void renew() = 0;
    /// Returns what is wrong with the result in that copy, in one line.
    virtual std::optional<std::string> fault(std::size_t copy) = 0;
};

/// The minimum that must be done with a problem's bytes.
enum class Floor { copy, read };

/// A problem of one size.
struct Case {
    std::string name;     ///< "sum of 2^28 floats"
    const char* entry;    ///< the function that a solving module exports
    std::size_t bytes;    ///< what one copy takes in device memory
    double useful_bytes;  ///< bytes that any solution must move
    double operations;    ///< that any solution must perform, in single precision; 0 if not reported
    Floor floor = Floor::copy;
    std::function<std::unique_ptr<Problem>(std::size_t copies)> make = {};
};

/// A kernel or library that is timed.
struct Entrant {
    std::string kind;  ///< "vendor", "step" or "mine", a student's; in a row also "floor"
    std::string name;
    std::function<void(Problem&, std::size_t copy)> run;
};

/// The result of an entrant on a case.
struct Row {
    std::string name, kind, entrant;
    std::string verdict = {};  ///< "right", "open", or why it is wrong
    double milliseconds = 0;   ///< the median
    double spread = 0;         ///< half of the interquartile range of the times, in % of the median
    double gigabytes = 0;      ///< useful gigabytes per second
    double teraflops = 0;      ///< operations per second, in 10¹²
    double of_ceiling = 0;     ///< in %: the least time that the device can need, divided by the time taken
    double faster = 0;         ///< times as fast as the vendor; 0 if there is none
    double faster_lower = 0;   ///< with a probability of 95 % the true ratio is not below this
    double faster_upper = 0;   ///< nor above this
    int runs = 0;              ///< number of times measured
    std::size_t copies = 0;    ///< of the problem, which the runs take in turn
};

/// The device, as far as the benchmark uses it.
struct Device {
    Stopwatch& watch;
    /// Returns a function that performs the unavoidable work on one of `copies` copies of `bytes` bytes,
    /// which it owns.
    std::function<std::function<void(std::size_t copy)>(Floor, std::size_t bytes, std::size_t copies)> floor;
    double flops_per_second;
};

/// Callbacks for progress and results.
struct Told {
    std::function<void(const Case&, const Entrant&)> begins;
    std::function<void(const Row&)> row;
    /// Called for a case that is left out, with the reason in one line.
    std::function<void(const Case&, const std::string&)> skipped;
};

/// Returns the number of copies of a case to use in turn: enough to be eight times as large as the cache, or
/// as many as there is room for; 0 if there is no room for one.
std::size_t copies_of(std::size_t bytes, const Memory&);

/// Returns the entrants in order, without the steps before the last `count` and without the student's
/// versions of them.
std::vector<Entrant> last_steps(std::vector<Entrant>, std::size_t count);

/// Returns "1.50 GiB".
std::string gib(std::size_t bytes);

/// Times the entrants on the case: first the floor, then the vendor, if there is one. Returns true if no
/// result was wrong. Throws what `told` throws, and kata::Error if a problem cannot be created.
bool run(const Case&, const std::vector<Entrant>&, const Device&, const Told&);

/// Returns a field of CSV, always on one line.
std::string field(const std::string& text);

}  // namespace kata::bench
