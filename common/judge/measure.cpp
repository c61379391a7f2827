#include "judge/measure.hpp"

#include "check/json.hpp"
#include "error.hpp"
#include "judge/claims.hpp"
#include "judge/clock.hpp"
#include "judge/options.hpp"
#include "judge/source.hpp"
#include "judge/suite.hpp"
#include "stopwatch.hpp"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kata {

namespace {

void print(const std::string& key, double value) {
    std::cout << key << ' ' << std::setprecision(17) << value << '\n';
}

void print_counts(const Run& run) {
    const auto& c = *run.seen.counts;
    for (const Counter& counter : counters::table) {
        if (!counter.of) continue;
        print(std::string(counter.key), shown(counter, c, run.outputs, run.operations));
    }
    // Loads and stores separately, as a profiler counts them.
    print("global_load_sectors", static_cast<double>(c.global_load.transactions));
    print("global_store_sectors", static_cast<double>(c.global_store.transactions));
    print("shared_load_passes", static_cast<double>(c.shared_load.transactions));
    print("shared_store_passes", static_cast<double>(c.shared_store.transactions));
}

void print_lines(const char* key, const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) std::cout << key << ' ' << line << '\n';
}

/// Returns a function that shows the progress of the step on a terminal.
std::function<void(double)> progress_of(const Module& step) {
    if (!isatty(STDERR_FILENO)) return {};
    return [title = step.name(), last = -1](double part) mutable {
        const int percent = static_cast<int>(100 * part);
        if (std::exchange(last, percent) != percent)
            std::cerr << "  " << title << " … " << percent << " %\r" << std::flush;
    };
}

}  // namespace

int describe(std::span<char* const> arguments) {
    try {
        if (const auto file = option(arguments, "--file")) {
            if (!chapter.on_file) throw Error(std::string(chapter.name) + " takes no file");
            chapter.check_file(*file);
        }
        const std::vector<std::string_view> timed{"milliseconds", "gigabytes", "teraflops", "of_ceiling"};
        constexpr const char* divided_by[] = {"", "/output", "/block", ""};
        std::cout << "{\"chapter\": " << as_json(chapter.name)
                  << ",\n \"problem\": " << as_json(keeps_time() ? chapter.timed_problem : chapter.problem)
                  << ",\n \"device\": " << as_json(device_name()) << ",\n \"columns\": "
                  << list_of(
                         keeps_time() ? timed : chapter.columns,
                         [&](std::string_view key) {
                             const auto& c = counter(key);
                             return "{\"key\": " + as_json(c.key) + ", \"heading\": " + as_json(c.heading) +
                                    ", \"narrow\": " + as_json(c.narrow.empty() ? c.heading : c.narrow) +
                                    ", \"unit\": " +
                                    as_json(std::string(c.unit) + divided_by[static_cast<int>(c.per)]) +
                                    ", \"decimals\": " + std::to_string(c.decimals) +
                                    ", \"more_is_better\": " + (c.better == Better::more ? "true" : "false") +
                                    ", \"meaning\": " + as_json(c.meaning.empty() ? c.name : c.meaning) + "}";
                         })
                  << ",\n \"steps\": "
                  << list_of(chapter.steps,
                             [](const Step& step) {
                                 return "{\"name\": " + as_json(step.name) +
                                        ", \"before\": " + as_json(step.before) + "}";
                             })
                  << "}\n";
        return 0;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}

int measure(std::span<char* const> arguments) {
    try {
        if (const auto why = lacking(option(arguments, "--needs").value_or(""))) {
            print_lines("lacks", *why);
            return 0;
        }
        const std::string path = option(arguments, "--measure").value_or("");
        if (const auto source = option(arguments, "--source")) require_current(path, *source);
        const Module step(path);
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
        // A run over a file is for its picture. Times come from a problem that fills the GPU.
        if (keeps_time() && !in && !flag(arguments, "--once")) {
            const auto against = option(arguments, "--against"), variant = option(arguments, "--variant");
            const auto times =
                time_step(step, against ? std::optional<Module>(std::in_place, *against) : std::nullopt,
                          variant ? std::optional<int>(std::stoi(*variant)) : std::nullopt);
            for (const auto& [key, value] : times) print(key, value);
        }
        if (const auto prefix = option(arguments, "--refuted"); prefix && counts_available())
            for (const auto& claim : step_called(step.name()).beats)
                if (!claim.quantity.is_timed() && claim.standing == Claim::Standing::refuted) {
                    const auto count = [&](std::string_view name) {
                        const Module other(*prefix + std::string(name) + "." + backend_name() + ".so");
                        return claim.quantity(counts_of(base_shape_of(step).run(other)));
                    };
                    std::cout << "refuted " << claim.worse << ' '
                              << as_counted({step.name(), claim}, count(step.name()), count(claim.worse))
                              << '\n';
                }
        return 0;
    } catch (const OpenKata&) {
        print("open", 1);
        return 0;
    } catch (const std::exception& e) {
        print_lines("fault", e.what());
        return 1;
    }
}

int times(std::span<char* const> arguments) {
    try {
        const auto variant = option(arguments, "--variant");
        std::vector<Module> steps;
        for (const std::string module : arguments.subspan(variant ? 4 : 2)) try {
                steps.emplace_back(module);
            } catch (const Error& e) {  // not built: the others can still be timed
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
