#include "judge/trace.hpp"

#include "check/json.hpp"
#include "error.hpp"
#include "judge/line_counts.hpp"
#include "judge/options.hpp"
#include "judge/suite.hpp"
#include "watch.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <iostream>
#include <map>
#include <tuple>
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

/// Writes what both outputs say about the run as a whole.
void write_head(Json& json, const Run& run) {
    json["chapter"] << as_json(chapter.name);
    json["fault"] << (run.fault ? as_json(*run.fault) : "null");
    json["outputs"] << run.outputs;
}

struct Launch {
    std::array<unsigned, 3> grid, block;
};

/// Records everything in the order of the run, in as few characters as possible.
class Everything final : public Watcher {
  public:
    static constexpr std::size_t most_requests = 400000;
    std::vector<Launch> launches;
    std::map<CodePlace, std::size_t> places;
    std::vector<CodePlace> place_list;
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
        const CodePlace key{r.code, r.did, r.memory};
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

int written(std::span<char* const> arguments, const char* what, const auto& write) {
    try {
        const auto file = option(arguments, "--to");
        if (!file) throw Error(std::string(what) + " needs --to and a file");
        if (!counts_available())
            throw Error("nothing is counted here: only the CPU back end built by g++ counts");
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
        LineCounts seen;
        const WatchedBy watching(seen);
        const auto run = base_shape_of(step).run(step);
        if (!run.seen.counts) throw Error(run.fault.value_or("nothing was counted"));
        Json json(file);
        write_head(json, run);
        json["problem"] << as_json(run.problem);
        json["all"] << totals_as_json(*run.seen.counts);
        json["places"] << seen.as_json();
    });
}

int trace(std::span<char* const> arguments) {
    return written(arguments, "--trace", [](const Module& step, const std::string& file) {
        if (!chapter.sketch) throw Error(std::string(chapter.name) + " has no problem to draw");
        Everything seen;
        const WatchedBy watching(seen);
        const auto sketch = chapter.sketch(step);
        if (!sketch.run.seen.counts) throw Error(sketch.run.fault.value_or("nothing was counted"));
        if (seen.too_many)
            throw Error("it executes more than " + std::to_string(Everything::most_requests) +
                        " instructions for " + sketch.problem + ", which is more than can be drawn");
        Json json(file);
        write_head(json, sketch.run);
        json["all"] << totals_as_json(*sketch.run.seen.counts);
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
        json.list("places", seen.place_list, [&](std::ostream& out, const CodePlace& key) {
            out << "{\"line\": " << as_json(*line++) << ", \"did\": " << as_json(std::get<1>(key))
                << ", \"memory\": " << as_json(std::get<2>(key)) << "}";
        });
        json.list("requests", seen.requests, [](std::ostream& out, const auto& one) { out << one; });
    });
}

}  // namespace kata
