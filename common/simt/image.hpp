// Where the loader has put the module that a kernel is in.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simt {

/// A range of addresses.
struct Range {
    std::uintptr_t begin = 0, end = 0;
    bool contains(std::uintptr_t a) const { return a - begin < end - begin; }
    std::size_t size() const { return end - begin; }
};

struct Image {
    std::string path;
    std::uintptr_t base = 0;
    Range shared;    ///< its thread-local storage: the __shared__ variables of all its kernels
    Range writable;  ///< its variables, without what only the loader writes
    Range all;
};

/// A variable of a module, as its source names it.
struct Variable {
    std::string name;
    Range range;
};

/// The shared or global variable that `address` is in, or else that ends last before it; none where the
/// module's file does not say.
std::optional<Variable> variable_at(const Image&, std::uintptr_t address);

/// The variable that `address` is in where the source declares it for the host alone: `of_device` has, in
/// words, the names that it declares for the device, "*" for one that nobody knows. None, too, where the
/// compiler has made it, and where the module's file does not say.
std::optional<Variable> host_variable_at(const Image&, std::uintptr_t address, std::string_view of_device);

/// The module that `code` is in; an empty one where the loader does not say.
Image image_of(const void* code);

/// What one function declares in shared memory.
struct Declared {
    std::string function;  ///< as in "tiled<2>(float const*, float*)"
    std::size_t bytes = 0;
};

/// The function of the module that declares most; nothing where the module's file does not say.
Declared most_shared(const Image&);
/// What the function at this address declares; likewise.
std::size_t shared_of(const Image&, const void* function);

}  // namespace simt
