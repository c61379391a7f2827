// The loaded module that a kernel is in.
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
    Range writable;  ///< its variables, except those that only the loader writes
    Range all;
};

/// A variable of a module, by its name in the source.
struct Variable {
    std::string name;
    Range range;
};

/// Returns the shared or global variable at `address`, or else the last one before it; nothing if the symbol
/// table lacks it.
std::optional<Variable> variable_at(const Image&, std::uintptr_t address);

/// Returns the variable at `address` if the source declares it for the host alone. `of_device` lists the
/// names declared for the device; "*" stands for an unknown one. Nothing for variables made by the compiler
/// or not in the symbol table.
std::optional<Variable> host_variable_at(const Image&, std::uintptr_t address, std::string_view of_device);

/// Returns the module that `code` is in; an empty one if unknown.
Image image_of(const void* code);

/// The shared memory that a function declares.
struct Declared {
    std::string function;  ///< such as "tiled<2>(float const*, float*)"
    std::size_t bytes = 0;
};

/// Returns the function of the module that declares the most shared memory; an empty name if unknown.
Declared most_shared(const Image&);
/// Returns the linker name of the module's function that begins at this address; empty if there is none.
std::string function_at(const Image&, const void* code);
/// True if one of these names is in the linker name of a function; "*" stands for any.
bool is_declared(std::string_view function, std::string_view of_device);
/// Returns the bytes of shared memory that the function at this address declares; 0 if unknown.
std::size_t shared_of(const Image&, const void* function);

}  // namespace simt
