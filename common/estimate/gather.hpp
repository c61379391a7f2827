// Watches the blocks of a launch on the CPU back end, and sums up what they require of a GPU.
#pragma once
#include "estimate/demand.hpp"
#include "estimate/device.hpp"
#include "estimate/source.hpp"
#include "watch.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace estimate {

/// Returns how many blocks are resident on a multiprocessor. Registers are unknown without a compiler for the
/// GPU.
unsigned resident(const Device&, unsigned threads, double shared_bytes);

/// Watches one block after the other, as a sample of a large launch runs them (kata::Conditions).
class Gatherer final : public kata::Watcher {
  public:
    /// With `ends`, also observes the first and the last block, in addition to the sample.
    explicit Gatherer(const Device& device, bool ends = false) : device_(device), ends_(ends) {}

    void launch_begins(const kata::Scene&) override;
    void request(const kata::Request&) override;
    /// True once the last few blocks have required the same.
    bool has_enough() override;
    bool sample_ends() override;

    /// Returns the demand of each launch, in order. Must be called after all have run.
    std::vector<Demand> demands();

  private:
    enum class Kind : std::uint8_t {
        basic_block,
        load,
        store,
        atomic,
        shared,
        shared_load,
        constant,
        shared_atomic
    };
    /// One request or basic block of a warp.
    struct Event {
        Kind kind;
        std::uint16_t passes, turns;
        std::uint32_t code, barriers, array, sectors;
        std::uint64_t first_sector;
        std::uint64_t words;  // a hash of the words of shared memory that the lanes load
        bool waited;          // it waited for a write of another block
    };
    struct Array {
        kata::Array of;
        Flow flow;
    };
    struct Updates {
        std::uint64_t block = 0;
        double turns = 0, of_block = 0;
        bool shared_by_blocks = false;
        std::uint32_t words = 0;                                 // a bit for each word of the line
        std::vector<std::pair<std::uint32_t, double>> of_codes;  // the same turns, for each code
    };
    /// The demand of one instruction.
    struct OfCode {
        Asked asked;
        std::map<std::uint32_t, double> loaded, written;  // sectors of each array
    };

    void end_block();
    void end_sample();
    void end_launch();
    OfBlock sums() const;
    void share_out();
    std::uint32_t array_of(std::uintptr_t address);
    void read_lines();
    void ask_cache(std::vector<std::vector<bool>>& misses);

    const Device& device_;
    const bool ends_;
    std::vector<Demand> done_;
    std::optional<Demand> launch_, sample_;  // for the launch, and for its sample once that has ended
    kata::Scene scene_;
    std::unordered_map<std::uint32_t, Line> line_of_;     // the line of each code of one module
    std::map<std::string, std::uint32_t> first_of_line_;  // the first basic block of "a.cu:3"
    std::map<std::string, std::vector<Line>> lines_in_;   // the lines of each source file
    std::vector<Array> arrays_;
    std::uint32_t last_array_ = 0;
    std::map<std::string, double> shared_arrays_;
    std::unordered_map<std::uintptr_t, Updates> updated_;  // the key is a line of global memory
    std::unordered_map<std::uint32_t, OfCode> of_code_;
    std::unordered_map<std::uint32_t, std::string> name_of_;  // "03_tiled.cu:27", for each code

    std::uint64_t block_ = 0;
    bool in_block_ = false;
    std::optional<OfBlock> last_;            // block before this one
    unsigned alike_ = 0;                     // consecutive blocks with the same demand, up to the last one
    std::vector<std::vector<Event>> warps_;  // the events of each warp of the block
    std::vector<std::uint64_t> sectors_;     // the sectors of these events
};

}  // namespace estimate
