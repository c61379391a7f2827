// Shadow memory of freed buffers, reused for new ones.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace meter {

/// Most problems of a suite are as large as an earlier one, and returning pages to the system and getting
/// zeroed ones takes longer than running many of the problems. Reused memory need not be cleared: its
/// contents name their launch or block. T has bytes_of_memory(), and reuse(...), which may return false.
template <class T>
class Spare {
  public:
    struct Keep {
        void operator()(T* one) const { keep(std::unique_ptr<T>(one)); }
    };
    using Pointer = std::unique_ptr<T, Keep>;

    /// Returns a spare one that accepts these arguments, else null.
    template <class... Arguments>
    static Pointer take(Arguments... arguments) {
        auto& those = all();
        for (auto i = those.size(); i-- > 0;)
            if (those[i]->reuse(arguments...)) {
                Pointer found(those[i].release());
                kept() -= found->bytes_of_memory();
                those.erase(those.begin() + static_cast<std::ptrdiff_t>(i));
                return found;
            }
        return nullptr;
    }

  private:
    static constexpr std::size_t most_bytes = std::size_t{64} << 20, most = 32;

    static void keep(std::unique_ptr<T> one) {
        const auto bytes = one->bytes_of_memory();
        if (bytes > most_bytes) return;
        auto& those = all();
        while (!those.empty() && (those.size() == most || kept() + bytes > most_bytes)) {
            kept() -= those.front()->bytes_of_memory();
            those.erase(those.begin());
        }
        kept() += bytes;
        those.push_back(std::move(one));
    }
    // Never destroyed: the meter gives its shadows back when it is destroyed.
    static std::vector<std::unique_ptr<T>>& all() {
        static auto& those = *new std::vector<std::unique_ptr<T>>;
        return those;
    }
    static std::size_t& kept() {
        static std::size_t bytes = 0;
        return bytes;
    }
};

}  // namespace meter
