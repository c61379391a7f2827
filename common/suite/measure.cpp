#include "suite/measure.hpp"

#include "error.hpp"
#include "stopwatch.hpp"
#include "suite/clock.hpp"
#include "suite/ladder.hpp"
#include "suite/options.hpp"
#include "suite/suite.hpp"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kata {

namespace {

void print(const char* key, double value) {
    std::cout << key << ' ' << std::setprecision(17) << value << '\n';
}

void print_counts(const Run& run) {
    const auto& c = *run.seen.counts;
    const auto per_output = [&](std::uint64_t v) {
        return run.outputs > 0 ? static_cast<double>(v) / run.outputs : 0;
    };
    print("bytes_loaded", per_output(c.global_load.bytes));
    print("bytes_stored", per_output(c.global_store.bytes));
    print("sectors", per_output(c.global_load.transactions + c.global_store.transactions));
    print("load_efficiency", 100 * c.load_efficiency());
    print("store_efficiency", 100 * c.store_efficiency());
    print("atomics", per_output(c.global_atomic.accesses));
    print("shared_loads", per_output(c.shared_load.accesses));
    print("shared_passes", per_output(c.shared_load.transactions + c.shared_store.transactions +
                                      c.shared_atomic.transactions));
    print("shared_atomics", per_output(c.shared_atomic.accesses));
    print("basic_blocks", per_output(c.basic_blocks));
    print("active_lanes", c.active_lanes());
    print("bank_conflicts", per_output(c.bank_conflicts));
    print("barriers", c.blocks > 0 ? static_cast<double>(c.barriers) / static_cast<double>(c.blocks) : 0);
    print("intensity",
          c.global_load.bytes > 0 ? run.operations / static_cast<double>(c.global_load.bytes) : 0);
    print("work", static_cast<double>(c.work));
    print("span", static_cast<double>(c.span));
    print("makespan", static_cast<double>(c.makespan));
    print("parallelism", c.parallelism());
    print("contention", static_cast<double>(c.contention));
    // Whole numbers, to be held against a profiler's.
    print("global_load_sectors", static_cast<double>(c.global_load.transactions));
    print("global_store_sectors", static_cast<double>(c.global_store.transactions));
    print("shared_load_passes", static_cast<double>(c.shared_load.transactions));
    print("shared_store_passes", static_cast<double>(c.shared_store.transactions));
}

/// Says on a terminal how far the step is.
std::function<void(double)> progress_of(const Module& step) {
    if (!isatty(STDERR_FILENO)) return {};
    return [title = title_of(step.name()), last = -1](double part) mutable {
        const int percent = static_cast<int>(100 * part);
        if (std::exchange(last, percent) != percent)
            std::cerr << "  " << title << " … " << percent << " %\r" << std::flush;
    };
}

}  // namespace

int measure(std::span<char* const> arguments) {
    try {
        const Module step(option(arguments, "--measure").value_or(""));
        const auto in = option(arguments, "--file"), out = option(arguments, "--file", 2);
        const auto run =
            in && out ? chapter.on_file(step, {*in, *out, flag(arguments, "--full"), progress_of(step)})
                      : chapter.ladder(step);
        if (run.fault) throw Error(*run.fault);
        print("outputs", run.outputs);
        if (run.seen.counts) {
            print("one_in", static_cast<double>(run.seen.one_in));
            print_counts(run);
        }
        // A picture is there to be looked at; what a step takes is timed on a problem that fills the GPU.
        if (keeps_time() && !in && !flag(arguments, "--once")) {
            const auto against = option(arguments, "--against"), variant = option(arguments, "--variant");
            const auto times =
                time_step(step, against ? std::optional<Module>(std::in_place, *against) : std::nullopt,
                          variant ? std::optional<int>(std::stoi(*variant)) : std::nullopt);
            for (const auto& [key, value] : times) print(key.c_str(), value);
        }
        return 0;
    } catch (const OpenKata&) {
        print("open", 1);
        return 0;
    } catch (const std::exception& e) {
        std::istringstream lines(e.what());
        for (std::string line; std::getline(lines, line);) std::cout << "fault " << line << '\n';
        return 1;
    }
}

int times(std::span<char* const> arguments) {
    try {
        const auto variant = option(arguments, "--variant");
        std::vector<Module> steps;
        for (const std::string module : arguments.subspan(variant ? 4 : 2)) try {
                steps.emplace_back(module);
            } catch (const Error& e) {  // has not been built, which is no reason to time nothing
                std::cerr << e.what() << '\n';
            }
        time_each(steps, variant ? std::optional<int>(std::stoi(*variant)) : std::nullopt,
                  [](const Module& step, double milliseconds) {
                      std::cout << step.name() << ' ' << milliseconds << std::endl;
                  });
        return 0;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}

}  // namespace kata
