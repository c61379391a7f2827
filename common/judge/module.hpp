// A step as built: a shared module of its own, so that a step that does not compile, crashes or has clashing
// names does not affect the verdict on any other.
#pragma once
#include <filesystem>
#include <string>

namespace kata {

class Module {
  public:
    /// Loads the module. Throws Error if there is none, because its source does not compile.
    explicit Module(const std::filesystem::path&);

    /// Returns the function that the module exports as `name`, with the type declared in the chapter's
    /// header.
    template <class Function>
    Function* function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name));
    }

    /// True if it exports `symbol`. Suites use this to find out which of several problems the step solves.
    bool has(const char* symbol) const;

    /// Loads the same file once more, so that its variables have their initial values.
    Module anew() const;

    /// "03_tiled"
    const std::string& name() const { return name_; }

  private:
    void* symbol(const char* name) const;

    std::string name_;
    std::filesystem::path path_;
    void* handle_;  // never closed: kernels may be used until the process ends
};

/// Throws Error if the source was edited after the module was built, because the module may then do something
/// else. Does nothing if either file is missing.
void require_current(const std::filesystem::path& module, const std::filesystem::path& source);

}  // namespace kata
