// Words of shared memory with an asynchronous copy in flight.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace meter {

class Flights {
  public:
    void clear() { words_.clear(); }
    bool none() const { return words_.empty(); }
    /// Begins a copy of whole words by the instruction `code`.
    void start(std::uintptr_t address, std::size_t bytes, std::uint32_t code) {
        for (std::size_t i = 0; i < bytes; i += 4) {
            auto& word = words_[(address + i) / 4];
            ++word.copies;
            word.code = code;
        }
    }
    void land(std::uintptr_t address, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; i += 4) {
            const auto word = words_.find((address + i) / 4);
            if (word != words_.end() && --word->second.copies == 0) words_.erase(word);
        }
    }
    /// Returns the code of a copy in flight to some word of the range, if there is one.
    std::optional<std::uint32_t> over(std::uintptr_t address, std::size_t bytes) const {
        if (words_.empty()) return std::nullopt;
        for (auto word = address / 4; word <= (address + bytes - 1) / 4; ++word)
            if (const auto found = words_.find(word); found != words_.end()) return found->second.code;
        return std::nullopt;
    }

  private:
    struct Word {
        unsigned copies = 0;
        std::uint32_t code = 0;
    };
    std::unordered_map<std::uintptr_t, Word> words_;
};

}  // namespace meter
