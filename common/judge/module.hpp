// A step as built: a shared module of its own, so that a step that does not compile, crashes or has clashing
// names does not affect the verdict on any other.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kata {

/// Calls a function with arguments that are stored one after another.
using Invoke = void (*)(void* function, const std::byte* arguments);

/// A loaded module, in this process or in one of its own.
class Loaded {
  public:
    virtual ~Loaded() = default;
    /// True if it exports `symbol`.
    virtual bool has(const char* symbol) = 0;
    /// Calls the function that it exports as `symbol`. Throws Error if there is none.
    virtual void call(const char* symbol, Invoke, std::span<const std::byte> arguments) = 0;
};

template <class>
class Call;
/// A function of a module.
template <class... Arguments>
class Call<void(Arguments...)> {
  public:
    Call(Loaded& loaded, const char* symbol) : loaded_(loaded), symbol_(symbol) {}

    void operator()(Arguments... arguments) const {
        static_assert((std::is_trivially_copyable_v<Arguments> && ...));
        std::array<std::byte, (sizeof(Arguments) + ...)> bytes;
        auto* to = bytes.data();
        ((std::memcpy(to, &arguments, sizeof arguments), to += sizeof arguments), ...);
        loaded_.call(symbol_, invoke, bytes);
    }

  private:
    template <class T>
    static T next(const std::byte*& from) {
        T value;
        std::memcpy(&value, std::exchange(from, from + sizeof value), sizeof value);
        return value;
    }
    static void invoke(void* function, const std::byte* from) {
        const std::tuple<Arguments...> arguments{next<Arguments>(from)...};
        std::apply(reinterpret_cast<void (*)(Arguments...)>(function), arguments);
    }

    Loaded& loaded_;
    const char* symbol_;
};

class Module {
  public:
    /// Loads the module. Throws Error if there is none, because its source does not compile.
    explicit Module(const std::filesystem::path&);

    /// Returns the function that the module exports as `name`, with the type declared in the chapter's
    /// header.
    template <class Function>
    Call<Function> function(const char* name) const {
        return {*loaded_, name};
    }

    /// True if it exports `symbol`. Suites use this to find out which of several problems the step solves.
    bool has(const char* symbol) const { return loaded_->has(symbol); }

    /// Calls a function with arguments that have been stored.
    void call(const char* name, Invoke invoke, std::span<const std::byte> arguments) const {
        loaded_->call(name, invoke, arguments);
    }

    /// Loads the same file once more, so that its variables have their initial values.
    Module anew() const;

    /// "03_tiled"
    const std::string& name() const { return name_; }

    /// Loads a file; null if modules are loaded into this process.
    inline static std::shared_ptr<Loaded> (*load_elsewhere)(const std::filesystem::path&) = nullptr;

  private:
    std::string name_;
    std::filesystem::path path_;
    std::shared_ptr<Loaded> loaded_;
};

/// Throws Error if the source was edited after the module was built, because the module may then do something
/// else. Does nothing if either file is missing.
void require_current(const std::filesystem::path& module, const std::filesystem::path& source);

/// If the arguments are those of a step's process, runs the step for the judge that has started it, and
/// returns the status for exit(). Otherwise makes this process a judge, which from now on runs each module in
/// a process of its own. Does nothing on a GPU, where modules and tests share a process.
std::optional<int> judge_from_outside(std::span<char* const> arguments);

}  // namespace kata
