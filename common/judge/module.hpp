// A step as the build leaves it: a shared module of its own, so that one which does not compile, crashes or
// clashes in its names costs no other step its verdict.
#pragma once
#include <filesystem>
#include <string>

namespace kata {

class Module {
  public:
    /// Loads the module. Throws Error where there is none: its source does not compile.
    explicit Module(const std::filesystem::path&);

    /// The function that the module exports under `name`, of the type that the chapter's header declares.
    template <class Function>
    Function* function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name));
    }

    /// Whether it exports `symbol`: how a suite tells which of several things this step is to do.
    bool has(const char* symbol) const;

    /// "03_tiled"
    const std::string& name() const { return name_; }

  private:
    void* symbol(const char* name) const;

    std::string name_;
    void* handle_;  // stays loaded: kernels may be referred to until the process ends
};

/// Throws Error where the source was edited since the module was built: what that does is then not what the
/// source says. Nothing where either does not exist.
void require_current(const std::filesystem::path& module, const std::filesystem::path& source);

}  // namespace kata
