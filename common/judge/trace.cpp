#include "judge/trace.hpp"

#include "check/json.hpp"
#include "error.hpp"
#include "judge/options.hpp"
#include "judge/suite.hpp"
#include "watch.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <iostream>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace kata {

namespace {

class Json {
  public:
    explicit Json(const std::string& path) : file_(path) {
        if (!file_) throw Error("cannot write to " + path);
    }
    ~Json() { file_ << "\n}\n"; }
    Json(const Json&) = delete;
    Json& operator=(const Json&) = delete;

    /// Begins the next entry of the outermost object. The caller then writes its value.
    std::ostream& operator[](const char* key) {
        file_ << (first_ ? "{\n\"" : ",\n\"") << key << "\": ";
        first_ = false;
        return file_;
    }
    template <class Range>
    void list(const char* key, const Range& range, const auto& write_one) {
        auto& out = (*this)[key];
        const char* before = "[\n";
        for (const auto& one : range) {
            out << std::exchange(before, ",\n");
            write_one(out, one);
        }
        out << (std::ranges::empty(range) ? "[]" : "]");
    }

  private:
    std::ofstream file_;
    bool first_ = true;
};

/// Watches while it lives.
class Watching : public Watcher {
  public:
    Watching() { watcher = this; }
    ~Watching() override { watcher = nullptr; }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;
};

std::uint64_t transactions(const Counts& c) {
    std::uint64_t sum = 0;
    for (const auto* t : {&c.global_load, &c.global_store, &c.global_atomic, &c.shared_load, &c.shared_store,
                          &c.shared_atomic, &c.constant_load})
        sum += t->transactions;
    return sum;
}

std::uint64_t distinct(const Counts& c) {
    return c.global_load.distinct + c.global_store.distinct + c.global_atomic.distinct;
}

/// Returns the largest number of lanes of a request that access one address.
std::uint64_t most_at_one(const Request& r) {
    std::map<std::uintptr_t, std::uint64_t> lanes;
    std::uint64_t most = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (r.lanes >> lane & 1) most = std::max(most, ++lanes[r.addresses[lane]]);
    return most;
}

/// The work of the lanes of all warps at one place in the kernels.
struct Sum {
    std::string array;
    unsigned bytes = 0;
    std::uint64_t requests = 0, lanes = 0, steps = 0, units = 0, least = 0, waits = 0;
    /// For atomics on global memory: the number of updates of each address. `turns` is the largest such
    /// number of any launch, because updates of one address take turns.
    std::unordered_map<std::uintptr_t, std::uint64_t> updates = {};
    std::uint64_t turns = 0;

    void update(std::uintptr_t address) { turns = std::max(turns, ++updates[address]); }
};

/// A place and what it does: one instruction may access several memories.
using Key = std::tuple<std::uint32_t, std::string, std::string>;

class Lines final : public Watching {
  public:
    std::map<Key, Sum> sums;
    Scene scene;

    void launch_begins(const Scene& begun) override {
        scene = begun;
        for (auto& [key, sum] : sums) sum.updates.clear();
    }
    void request(const Request& r) override {
        auto& sum = sums[{r.code, r.did, r.memory}];
        if (sum.requests++ == 0 && *r.memory) {
            sum.array = scene.array_at(r.addresses[static_cast<unsigned>(std::countr_zero(r.lanes))]).name;
            sum.bytes = r.bytes;
        }
        const std::string_view memory = r.memory;
        sum.lanes += static_cast<unsigned>(std::popcount(r.lanes));
        sum.steps += r.steps;
        sum.waits += r.counts.same_address;
        if (memory == "global") {
            sum.units += transactions(r.counts);
            sum.least += (distinct(r.counts) + 31) / 32;
            if (r.counts.global_atomic.accesses > 0) {
                for (unsigned lane = 0; lane < 32; ++lane)
                    if (r.lanes >> lane & 1) sum.update(r.addresses[lane]);
                // Lanes that update one address take turns, as in shared memory. Counts::work has one step
                // per line instead.
                sum.steps += most_at_one(r) - 1;
            }
        } else if (memory == "shared") {
            // Lanes that update one word also take turns.
            const auto passes = transactions(r.counts);
            sum.units += std::max(passes, r.steps);
            sum.least += passes - r.counts.bank_conflicts;
        } else if (memory == "constant") {
            sum.units += r.steps;
            ++sum.least;
        }
    }
};

void write_totals(std::ostream& out, const Counts& c) {
    const auto sum = [](const auto&... values) { return (values + ...); };
    out << "{\"sectors\": "
        << sum(c.global_load.transactions, c.global_store.transactions, c.global_atomic.transactions)
        << ", \"lines\": " << c.lines << ", \"shared_passes\": "
        << sum(c.shared_load.transactions, c.shared_store.transactions, c.shared_atomic.transactions)
        << ", \"bank_conflicts\": " << c.bank_conflicts << ", \"atomics\": " << c.global_atomic.accesses
        << ", \"shared_atomics\": " << c.shared_atomic.accesses << ", \"waits\": " << c.same_address
        << ", \"barriers\": " << c.barriers << ", \"active_lanes\": " << c.active_lanes()
        << ", \"work\": " << c.work << ", \"span\": " << c.span << ", \"makespan\": " << c.makespan
        << ", \"threads\": " << c.threads << ", \"blocks\": " << c.blocks << ", \"launches\": " << c.launches
        << ", \"contention\": " << c.contention << "}";
}

/// Writes what both outputs say about the run as a whole.
void write_head(Json& json, const Run& run) {
    json["chapter"] << as_json(chapter.name);
    json["fault"] << (run.fault ? as_json(*run.fault) : "null");
    json["outputs"] << run.outputs;
}

struct Launch {
    std::array<unsigned, 3> grid, block;
};

/// Records everything in order, in as few characters as possible.
class Everything final : public Watching {
  public:
    static constexpr std::size_t most_requests = 400000;
    std::vector<Launch> launches;
    std::map<Key, std::size_t> places;
    std::vector<Key> place_list;
    std::map<std::string, std::size_t> arrays;
    std::vector<Array> array_list;
    std::vector<std::string> requests;
    bool too_many = false;
    Scene scene;

    void launch_begins(const Scene& begun) override {
        scene = begun;
        launches.push_back({begun.grid, begun.block});
    }
    void request(const Request& r) override {
        if (requests.size() == most_requests) too_many = true;
        if (too_many) return;
        const Key key{r.code, r.did, r.memory};
        const auto [place, is_new] = places.try_emplace(key, place_list.size());
        if (is_new) place_list.push_back(key);
        std::string text = "[";
        const auto add = [&](auto number) { text += std::to_string(number) + ","; };
        add(launches.size() - 1), add(r.block), add(r.warp), add(r.barriers), add(r.begins), add(r.ends);
        add(place->second), add(r.steps), add(r.lanes);
        if (*r.memory) {
            const auto array = scene.array_at(r.addresses[static_cast<unsigned>(std::countr_zero(r.lanes))]);
            const auto [index, unseen] = arrays.try_emplace(array.name, array_list.size());
            if (unseen) array_list.push_back(array);
            add(index->second), add(r.bytes);
            for (unsigned lane = 0; lane < 32; ++lane)
                if (r.lanes >> lane & 1) add(static_cast<std::int64_t>(r.addresses[lane] - array.begin));
        }
        text.back() = ']';
        requests.push_back(std::move(text));
    }
};

std::vector<std::string> lines_of(const Scene& scene, const auto& keys) {
    std::vector<std::uint32_t> codes;
    for (const Key& key : keys) codes.push_back(std::get<0>(key));
    return scene.lines_of ? scene.lines_of(codes) : std::vector<std::string>();
}

int written(std::span<char* const> arguments, const char* what, const auto& write) {
    try {
        const auto file = option(arguments, "--to");
        if (!file) throw Error(std::string(what) + " needs --to and a file");
        if (!counts_available()) throw Error("nothing is counted here: only the CPU back end of g++ counts");
        write(Module(option(arguments, what).value_or("")), *file);
        return 0;
    } catch (const OpenKata&) {
        std::cerr << "the step still calls kata::open()\n";
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
    }
    return 1;
}

}  // namespace

int explain(std::span<char* const> arguments) {
    return written(arguments, "--explain", [](const Module& step, const std::string& file) {
        Lines seen;
        const auto run = base_shape_of(step).run(step);
        if (!run.seen.counts) throw Error(run.fault.value_or("nothing was counted"));
        Json json(file);
        write_head(json, run);
        json["problem"] << as_json(run.problem);
        write_totals(json["all"], *run.seen.counts);
        std::vector<Key> keys;
        for (const auto& [key, sum] : seen.sums) keys.push_back(key);
        const auto lines = lines_of(seen.scene, keys);
        auto line = lines.begin();
        json.list("places", seen.sums, [&](std::ostream& out, const auto& one) {
            const auto& [key, sum] = one;
            out << "{\"line\": " << as_json(*line++) << ", \"did\": " << as_json(std::get<1>(key))
                << ", \"memory\": " << as_json(std::get<2>(key)) << ", \"array\": " << as_json(sum.array)
                << ", \"bytes\": " << sum.bytes << ", \"requests\": " << sum.requests
                << ", \"lanes\": " << sum.lanes << ", \"steps\": " << sum.steps
                << ", \"units\": " << sum.units << ", \"least\": " << sum.least
                << ", \"waits\": " << sum.waits << ", \"turns\": " << sum.turns << "}";
        });
    });
}

int trace(std::span<char* const> arguments) {
    return written(arguments, "--trace", [](const Module& step, const std::string& file) {
        if (!chapter.sketch) throw Error(std::string(chapter.name) + " has no problem to draw");
        Everything seen;
        const auto sketch = chapter.sketch(step);
        if (!sketch.run.seen.counts) throw Error(sketch.run.fault.value_or("nothing was counted"));
        if (seen.too_many)
            throw Error("it executes more than " + std::to_string(Everything::most_requests) +
                        " instructions for " + sketch.problem + ", which is more than can be drawn");
        Json json(file);
        write_head(json, sketch.run);
        write_totals(json["all"], *sketch.run.seen.counts);
        json["problem"] << as_json(sketch.problem);
        json["picture"] << as_json(sketch.picture);
        json.list("shapes", sketch.shapes, [](std::ostream& out, const auto& one) {
            out << "[" << as_json(one.first);
            for (const int extent : one.second) out << ", " << extent;
            out << "]";
        });
        const auto triple = [](std::ostream& out, const std::array<unsigned, 3>& d) {
            out << "[" << d[0] << ", " << d[1] << ", " << d[2] << "]";
        };
        json.list("launches", seen.launches, [&](std::ostream& out, const Launch& one) {
            out << "{\"grid\": ";
            triple(out, one.grid);
            out << ", \"block\": ";
            triple(out, one.block);
            out << "}";
        });
        json.list("arrays", seen.array_list, [](std::ostream& out, const Array& one) {
            out << "{\"name\": " << as_json(one.name) << ", \"bytes\": " << one.bytes << "}";
        });
        const auto lines = lines_of(seen.scene, seen.place_list);
        auto line = lines.begin();
        json.list("places", seen.place_list, [&](std::ostream& out, const Key& key) {
            out << "{\"line\": " << as_json(*line++) << ", \"did\": " << as_json(std::get<1>(key))
                << ", \"memory\": " << as_json(std::get<2>(key)) << "}";
        });
        json.list("requests", seen.requests, [](std::ostream& out, const auto& one) { out << one; });
    });
}

}  // namespace kata
