// Tests the cases of a chapter on the CPU back end, which times nothing: what a solution leaves must be
// right, and must be wrong if it is left in one copy of a problem only.
//
//   bench-cases-scan MODULE...     the solutions
#include "bench/chapter.hpp"
#include "error.hpp"
#include "observe.hpp"

#include <iostream>
#include <set>

namespace {

namespace bench = kata::bench;

/// The first case of each kind, which is a small one, with its last solution.
void try_case(const bench::Case& c, const kata::Module& solution) {
    const auto problem = c.make(2);
    const auto run_over = [&](std::size_t copy) {
        kata::observe({.metered = false}, [&] { problem->run(solution, copy); });
    };
    const auto require = [&](bool right, std::size_t copy) {
        const auto fault = problem->fault(copy);
        if (fault.has_value() == right)
            throw kata::Error(c.name + ": " + solution.name() + ", copy " + std::to_string(copy) +
                              (fault ? ": " + *fault : " was not written, and is reported as right"));
    };
    require(false, 0);
    run_over(0);
    require(true, 0);
    require(false, 1);
    run_over(1);
    run_over(1);
    problem->renew();
    require(false, 0);
    require(false, 1);
    run_over(1);
    require(true, 1);
    require(false, 0);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<kata::Module> solutions(argv + 1, argv + argc);
        std::set<std::string> tried;
        for (const auto& c : bench::cases())
            for (auto solution = solutions.rbegin(); solution != solutions.rend(); ++solution)
                if (solution->has(c.entry) && tried.insert(c.entry).second) try_case(c, *solution);
        if (tried.empty()) throw kata::Error("no solution is for any case");
        return 0;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
