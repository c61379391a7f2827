// What the kernels of a step store, for a test that asks when they do.
#pragma once
#include "watch.hpp"

#include <bit>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace kata {

/// For as long as it lives, tells of each request that stores to global memory, and of the array that it
/// reaches; on a GPU of none.
class Stores final : public Watcher {
  public:
    using Tell = std::function<void(const Request&, const std::string& array)>;

    explicit Stores(Tell tell) : tell_(std::move(tell)) { watcher = this; }
    ~Stores() override { watcher = nullptr; }
    Stores(const Stores&) = delete;
    Stores& operator=(const Stores&) = delete;

    void launch_begins(const Scene& scene) override { scene_ = scene; }
    void request(const Request& r) override {
        if (std::string_view(r.did) != "store" || std::string_view(r.memory) != "global") return;
        const auto first = static_cast<unsigned>(std::countr_zero(r.lanes));
        tell_(r, scene_.array_at(r.addresses[first]).name);
    }

  private:
    Tell tell_;
    Scene scene_;
};

}  // namespace kata
