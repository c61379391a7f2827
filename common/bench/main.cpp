// The benchmark of a chapter: times the modules in a folder on all cases.
//
//   scan-bench --modules FOLDER [--mine] [--case TEXT] [--last N] [--without NAME]...
//
// The modules are solutions.CHAPTER.STEP.gpu.so and vendor.CHAPTER.LIBRARY.gpu.so, with --mine also
// chapters.CHAPTER.STEP.gpu.so. --case selects the cases whose names contain the text. --last keeps only the
// last N of the solutions that solve a case. --without leaves out an entrant, given as KIND/NAME.
//
// Prints CSV as results arrive: "device,NAME,TFLOP/s", "begin,CASE,KIND,NAME", "skip,CASE,WHY", "row," and
// the members of Row in their order, and "end" when all have run. If an entrant makes the GPU unusable for
// the process, the process ends without "end".
//
// Exit status: 0 all answers are right, 1 they are not, 77 there is no GPU.
#include "bench/chapter.hpp"
#include "buffer.hpp"
#include "error.hpp"
#include "gpu/device.hpp"
#include "gpu/floors.hpp"
#include "judge/options.hpp"
#include "observe.hpp"

#include <algorithm>
#include <deque>
#include <iomanip>
#include <iostream>

namespace {

namespace bench = kata::bench;
namespace fs = std::filesystem;

/// Returns the modules of a tree, sorted by name.
std::vector<fs::path> modules_of(const std::string& tree, const fs::path& folder) {
    const auto begin = tree + "." + bench::chapter + ".";
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const auto file = entry.path().filename().string();
        if (file.starts_with(begin) && file.ends_with(".gpu.so")) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

struct Loaded {
    std::string kind;
    kata::Module module;
};

/// Loads the vendor first, then the solutions, each followed by the student's step.
std::deque<Loaded> load(std::span<char* const> arguments) {
    const auto folder = kata::option(arguments, "--modules");
    if (!folder) throw kata::Error("--modules FOLDER is missing: the folder that holds the modules");
    const auto left_out = [&](const std::string& name) {
        for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
            if (arguments[i] == std::string("--without") && arguments[i + 1] == name) return true;
        return false;
    };
    std::deque<Loaded> all;
    std::vector<const char*> kinds{"vendor", "solutions"};
    if (kata::flag(arguments, "--mine")) kinds.push_back("chapters");
    for (const std::string kind : kinds)
        for (const auto& path : modules_of(kind, *folder)) {
            kata::Module module(path);
            const auto shown = kind == "vendor" ? kind : kind == "solutions" ? "step" : "mine";
            if (!left_out(shown + ("/" + module.name()))) all.push_back({shown, std::move(module)});
        }
    std::stable_sort(all.begin(), all.end(), [](const Loaded& a, const Loaded& b) {
        const auto place = [](const Loaded& l) { return l.kind == "vendor" ? "" : l.module.name(); };
        return place(a) < place(b);
    });
    return all;
}

std::function<void(std::size_t)> floor(bench::Floor floor, std::size_t bytes, std::size_t copies) {
    using Bytes = kata::Buffer<std::byte>;
    constexpr std::size_t alignment = 256;
    const bool reads = floor == bench::Floor::read;
    const std::size_t one = reads ? bytes : bytes / 2, stride = (one + alignment - 1) / alignment * alignment;
    const auto from = std::make_shared<Bytes>("source of the floor", copies * stride),
               to =
                   std::make_shared<Bytes>("target of the floor", reads ? sizeof(unsigned) : copies * stride);
    return [=](std::size_t copy) {
        const auto* const source = from->data() + copy * stride;
        if (reads)
            kata::gpu::read_bytes(source, one, reinterpret_cast<unsigned*>(to->data()));
        else
            kata::gpu::copy_bytes(to->data() + copy * stride, source, one);
    };
}

/// Thrown to end the benchmark when the device is lost.
struct Lost {};

const bench::Told printed{
    .begins =
        [](const bench::Case& c, const bench::Entrant& e) {
            std::cout << "begin," << bench::field(c.name) << ',' << e.kind << ',' << e.name << std::endl;
        },
    .row =
        [](const bench::Row& row) {
            std::cout << std::setprecision(9) << "row," << bench::field(row.name) << ',' << row.kind << ','
                      << row.entrant << ',' << bench::field(row.verdict) << ',' << row.milliseconds << ','
                      << row.spread << ',' << row.gigabytes << ',' << row.teraflops << ',' << row.of_ceiling
                      << ',' << row.faster << ',' << row.faster_lower << ',' << row.faster_upper << ','
                      << row.runs << ',' << row.copies << std::endl;
            if (kata::gpu::lost()) throw Lost{};
        },
    .skipped =
        [](const bench::Case& c, const std::string& why) {
            std::cout << "skip," << bench::field(c.name) << ',' << bench::field(why) << std::endl;
        },
};

bool run_all(std::span<char* const> arguments) {
    const auto loaded = load(arguments);
    const auto watch = kata::stopwatch();
    const bench::Device device{*watch, floor, watch->ceilings().flops_per_second};
    std::cout << "device," << bench::field(kata::device_name()) << ',' << 1e-12 * device.flops_per_second
              << std::endl;
    const auto wanted = kata::option(arguments, "--case").value_or("");
    const auto last = kata::option(arguments, "--last");
    bool all_right = true;
    for (const auto& c : bench::cases()) {
        if (c.name.find(wanted) == std::string::npos) continue;
        std::vector<bench::Entrant> entrants;
        for (const auto& [kind, module] : loaded)
            if (module.has(c.entry))
                entrants.push_back(
                    {kind, module.name(),
                     [&module = module](bench::Problem& p, std::size_t copy) { p.run(module, copy); }});
        if (last) entrants = bench::last_steps(std::move(entrants), std::stoul(*last));
        if (!entrants.empty()) all_right = bench::run(c, entrants, device, printed) && all_right;
    }
    std::cout << "end" << std::endl;
    return all_right;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        kata::require_device();
    } catch (const kata::Error& e) {
        std::cerr << e.what() << '\n';
        return 77;
    }
    try {
        return run_all(std::span<char* const>(argv, static_cast<std::size_t>(argc))) ? 0 : 1;
    } catch (const Lost&) {
        return 1;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
