#include "judge/estimate.hpp"

#include "error.hpp"
#include "estimate/estimate.hpp"
#include "estimate/gather.hpp"
#include "judge/options.hpp"
#include "judge/suite.hpp"

#include <iostream>
#include <utility>

namespace kata {

namespace {

/// Steps of threads after which no further block of a launch is observed: less than a tenth of a second.
constexpr std::uint64_t enough = 500'000;

/// Prints the inputs of a launch's estimate, other than those of its lines, for a reader who computes it by
/// hand.
void print_alone(const ::estimate::Demand& d, const ::estimate::Device& on) {
    if (d.looked_at == 0) return;
    std::cout << "alone blocks: " << d.blocks << ", on each of " << on.at("multiprocessors")
              << " multiprocessors at once: " << ::estimate::resident(on, d.threads, d.shared_bytes)
              << "; the chain through a block:";
    const auto& c = d.chain;
    const char* before = " ";
    for (const auto& [count, what] : {std::pair(c.basic_blocks, "basic blocks"),
                                      {c.divisions, "divisions"},
                                      {c.requests, "requests"},
                                      {c.passes, "further passes"},
                                      {c.shared_loads, "waits for shared memory"},
                                      {c.l1_loads, "waits for the L1 cache"},
                                      {c.misses, "waits for what misses it"},
                                      {c.barriers, "barriers"},
                                      {c.updates, "turns of atomics"}})
        if (count > 0) std::cout << std::exchange(before, ", ") << what << ' ' << count / d.looked_at;
    std::cout << '\n';
}

}  // namespace

int estimate(std::span<char* const> arguments) {
    try {
        const Module step(option(arguments, "--estimate").value_or(""));
        const auto file = option(arguments, "--device"), variant = option(arguments, "--variant");
        if (!file) throw Error("--estimate needs --device with a file that describes a GPU");
        if (!chapter.at_scale) throw Error(std::string(chapter.name) + " has no problem to estimate");
        if (!counts_available())
            throw Error("nothing is counted here: only the CPU back end built by g++ counts");
        const auto solution = option(arguments, "--solution");
        if (solution)
            if (auto why = ::estimate::unequal_blocks(counts_of(base_shape_of(step).run(step)),
                                                      counts_of(base_shape_of(step).run(Module(*solution)))))
                throw Error(*why);
        const auto device = ::estimate::read_device(std::filesystem::path(*file));
        // The first and last blocks of a solution are known to be like the others.
        ::estimate::Gatherer gatherer(device, solution.has_value());
        AtScale problem;
        const auto seen = observe({.sample = enough}, [&] {
            const WatchedBy watched(gatherer);
            problem = chapter.at_scale(step, variant ? std::optional(std::stoi(*variant)) : std::nullopt);
        });
        if (seen.fragments)
            throw Error("it multiplies in tensor cores, whose speed no description of a device has");
        const auto launches = gatherer.demands();
        const auto time = ::estimate::estimate(launches, device, problem.operations);
        if (auto why = ::estimate::unequal_ends(time)) throw Error(*why);
        if (time.needs.empty()) throw Error("the step launches no kernel");
        std::cout << "estimated_milliseconds " << 1e3 * problem.times * time.seconds << '\n';
        std::cout << "problem " << chapter.timed_problem << '\n';
        std::cout << "bound " << time.needs.front().what << '\n';
        for (const auto& need : time.needs)
            std::cout << "need " << 1e3 * problem.times * need.seconds << ' ' << need.what << '\n';
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const auto& of_launch = time.launches[i];
            std::cout << "launch " << 1e3 * problem.times * of_launch.seconds << ' ' << launches[i].blocks
                      << ' ' << launches[i].threads << ' '
                      << (of_launch.needs.empty() ? "launch" : of_launch.needs.front().what) << '\n';
        }
        for (const auto& launch : launches) print_alone(launch, device);
        for (const auto& [line, what, seconds] : time.lines)
            std::cout << "line " << 1e3 * problem.times * seconds << ' ' << (line.empty() ? "-" : line) << ' '
                      << what << '\n';
        return 0;
    } catch (const OpenKata&) {
        std::cout << "open 1\n";
        return 0;
    } catch (const std::exception& e) {
        std::cout << "fault " << e.what() << '\n';
        return 1;
    }
}

}  // namespace kata
