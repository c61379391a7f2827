// What the kernels of a step load and store, for a test that asks when they do.
#pragma once
#include "watch.hpp"

#include <bit>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace kata {

/// For as long as it lives, tells of each request that loads from or stores to global memory, and of the
/// array that it reaches; on a GPU of none.
class Accesses final : public Watcher {
  public:
    using Tell = std::function<void(const Request&, const std::string& array)>;

    explicit Accesses(Tell tell) : tell_(std::move(tell)) { watcher = this; }
    ~Accesses() override { watcher = nullptr; }
    Accesses(const Accesses&) = delete;
    Accesses& operator=(const Accesses&) = delete;

    void launch_begins(const Scene& scene) override { scene_ = scene; }
    void request(const Request& r) override {
        if (r.bytes == 0 || std::string_view(r.memory) != "global") return;
        const auto first = static_cast<unsigned>(std::countr_zero(r.lanes));
        tell_(r, scene_.array_at(r.addresses[first]).name);
    }

  private:
    Tell tell_;
    Scene scene_;
};

}  // namespace kata
