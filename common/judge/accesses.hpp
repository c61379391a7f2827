// The global loads and stores of a step's kernels, for tests of their order.
#pragma once
#include "watch.hpp"

#include <bit>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace kata {

/// While it lives, reports each request to global memory and the array that it accesses. Reports none on a
/// GPU.
class Accesses final : public Watcher {
  public:
    using Tell = std::function<void(const Request&, const std::string& array)>;

    explicit Accesses(Tell tell) : tell_(std::move(tell)) { watcher = this; }
    ~Accesses() override { watcher = nullptr; }
    Accesses(const Accesses&) = delete;
    Accesses& operator=(const Accesses&) = delete;

    Interest interest() const override { return {.blocks = false, .counts = false}; }
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
