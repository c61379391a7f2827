#include "judge/module.hpp"

#include "error.hpp"
#include "file_in_memory.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace kata {

namespace {

/// Returns "03_tiled" for "solutions.convolution.03_tiled.cpu.so", the build's name of a module.
std::string step_of(const std::string& file) {
    const auto chapter = file.find('.'), name = file.find('.', chapter + 1),
               backend = file.rfind('.', file.rfind('.') - 1);
    return name < backend ? file.substr(name + 1, backend - name - 1) : file;
}

std::string demangled(const std::string& symbol) {
    int status = 0;
    char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 ? text : symbol;
    std::free(text);
    return name;
}

/// A module in this process.
class LoadedHere final : public Loaded {
  public:
    LoadedHere(const std::filesystem::path& path, std::string name) : name_(std::move(name)) {
        handle_ = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_) return;
        const std::string why = dlerror(), undefined = "undefined symbol: ";
        const auto at = why.find(undefined);
        throw Error(
            name_ + " cannot be loaded: " +
            (at == std::string::npos
                 ? why
                 : "it calls " + demangled(why.substr(at + undefined.size())) +
                       ", which it does not define; a step must not call the tests or their reference"));
    }
    bool has(const char* symbol) override { return dlsym(handle_, symbol) != nullptr; }
    void call(const char* symbol, Invoke invoke, std::span<const std::byte> arguments) override {
        void* const found = dlsym(handle_, symbol);
        if (!found)
            throw Error(name_ + " defines no " + symbol +
                        "(): the chapter's header says what a step defines");
        invoke(found, arguments.data());
    }

  private:
    std::string name_;
    void* handle_;  // never closed: kernels may be used until the process ends
};

}  // namespace

Module::Module(const std::filesystem::path& path) : name_(step_of(path.filename().string())), path_(path) {
    if (!std::filesystem::exists(path))
        throw Error(name_ + " has not been built: fix the compiler's errors first");
    loaded_ = load_elsewhere ? load_elsewhere(path) : std::make_shared<LoadedHere>(path, name_);
}

Module Module::anew() const {
    if (load_elsewhere) return Module(path_);
#if defined(__linux__)
    // The loader recognizes a file that it has loaded, but not a copy. The copy must stay open.
    const int copy = file_in_memory();
    std::ifstream file(path_, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (copy >= 0 && write(copy, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
        Module loaded("/proc/self/fd/" + std::to_string(copy));
        loaded.name_ = name_;
        return loaded;
    }
#endif
    throw Error(name_ + " cannot be loaded anew");
}

void require_current(const std::filesystem::path& module, const std::filesystem::path& source) {
    if (!exists(module) || !exists(source)) return;
    // A time in the future, set by another machine's clock, does not show that the file was edited since.
    const auto edited = last_write_time(source);
    if (edited > last_write_time(module) && edited <= std::filesystem::file_time_type::clock::now())
        throw Error(step_of(module.filename().string()) +
                    " has changed since it was built: fix the compiler's errors first");
}

}  // namespace kata
