#include "suite/module.hpp"

#include "error.hpp"

#include <dlfcn.h>

namespace kata {

namespace {

/// "03_tiled" of "solutions.convolution.03_tiled.cpu.so", which is how the build names a module.
std::string step_of(const std::string& file) {
    const auto chapter = file.find('.'), name = file.find('.', chapter + 1),
               backend = file.rfind('.', file.rfind('.') - 1);
    return name < backend ? file.substr(name + 1, backend - name - 1) : file;
}

}  // namespace

Module::Module(const std::filesystem::path& path) : name_(step_of(path.filename().string())) {
    if (!std::filesystem::exists(path))
        throw Error(name_ + " has not been built: mend what the compiler says of its source first");
    handle_ = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw Error(name_ + " cannot be loaded: " + dlerror());
}

bool Module::has(const char* name) const { return dlsym(handle_, name) != nullptr; }

void* Module::symbol(const char* name) const {
    if (void* found = dlsym(handle_, name)) return found;
    throw Error(name_ + " defines no " + name + "(): the chapter's header says what a step defines");
}

void require_current(const std::filesystem::path& module, const std::filesystem::path& source) {
    if (exists(module) && exists(source) && last_write_time(source) > last_write_time(module))
        throw Error(step_of(module.filename().string()) +
                    " has changed since it was built: mend what the compiler says of it first");
}

}  // namespace kata
