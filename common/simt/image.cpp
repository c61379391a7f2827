#include "simt/image.hpp"

#if defined(__linux__)
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <map>
#include <set>
#include <unistd.h>
#include <vector>

// The loader's function that returns a module's thread-local storage, and allocates it at the first access.
extern "C" void* __tls_get_addr(void*);
#endif

namespace simt {

#if defined(__linux__)

namespace {

struct Search {
    std::uintptr_t code;
    Image image;
    bool found = false;
};

int look(dl_phdr_info* info, std::size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    Image image;
    image.base = info->dlpi_addr;
    bool mine = false;
    std::size_t thread_local_bytes = 0;
    std::uintptr_t constant_end = 0;  // end of the part that only the loader writes
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& p = info->dlpi_phdr[i];
        const Range range{info->dlpi_addr + p.p_vaddr, info->dlpi_addr + p.p_vaddr + p.p_memsz};
        if (p.p_type == PT_TLS) thread_local_bytes = p.p_memsz;
        if (p.p_type == PT_GNU_RELRO) constant_end = range.end;
        if (p.p_type != PT_LOAD) continue;
        mine = mine || range.contains(search.code);
        if (image.all.begin == 0 || range.begin < image.all.begin) image.all.begin = range.begin;
        if (range.end > image.all.end) image.all.end = range.end;
        if (p.p_flags & PF_W) image.writable = range;
    }
    if (!mine) return 0;
    if (image.writable.contains(constant_end)) image.writable.begin = constant_end;
    if (thread_local_bytes > 0) {
        struct {
            unsigned long module, offset;
        } index{info->dlpi_tls_modid, 0};
        image.shared.begin = reinterpret_cast<std::uintptr_t>(__tls_get_addr(&index));
        image.shared.end = image.shared.begin + thread_local_bytes;
    }
    image.path = info->dlpi_name[0] ? info->dlpi_name : "/proc/" + std::to_string(getpid()) + "/exe";
    search.image = std::move(image);
    search.found = true;
    return 1;
}

}  // namespace

Image image_of(const void* code) {
    Search search{reinterpret_cast<std::uintptr_t>(code), {}, false};
    dl_iterate_phdr(look, &search);
    return search.image;
}

namespace {

std::string readable(const char* symbol) {
    int status = 0;
    char* const text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    std::string name = status == 0 ? text : symbol;
    std::free(text);
    return name;
}

/// Returns "tiled(float*)" for the symbol of its variable "tiled(float*)::in_s"; for a variable outside
/// functions, its own name.
std::string function_of(const char* symbol) {
    auto name = readable(symbol);
    if (name.starts_with("void ")) name.erase(0, 5);  // the return type of template instances
    if (const auto end = name.rfind(")::"); end != std::string::npos) name.resize(end + 1);
    return name;
}

/// Returns "in_s" for the symbol of "tiled(float*)::in_s".
std::string own_name(const char* symbol) {
    auto name = readable(symbol);
    if (const auto scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
    return name;
}

/// True if the name of a function that the variable is local to is among the words.
bool is_local_to(std::string_view variable, const std::set<std::string_view>& words) {
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t at = 0, end = 0; at < variable.size(); at = end + 1) {
        for (end = at; end < variable.size() && in_name(variable[end]);) ++end;
        const auto name = variable.substr(at, end - at);
        const bool called = end < variable.size() && (variable[end] == '(' || variable[end] == '<');
        if ((called || name == "operator") && words.contains(name)) return true;
    }
    return false;
}

std::set<std::string_view> words_of(std::string_view of_device) {
    std::set<std::string_view> words;
    for (std::size_t at = 0, end = 0; at < of_device.size(); at = end + 1) {
        end = std::min(of_device.find_first_of(std::string_view(" \0", 2), at), of_device.size());
        words.insert(of_device.substr(at, end - at));
    }
    return words;
}

struct Symbol {
    std::string name;
    Range range;
};

/// The functions and variables in the symbol table of a module.
struct Symbols {
    std::vector<Symbol> thread_local_variables, variables;  // sorted by offset in the segment or module
    std::map<std::uintptr_t, std::string> functions;        // the key is the offset in the module
    std::map<std::string, std::size_t> shared;              // bytes declared by each function
};

Symbols read_symbols(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
    const auto at = [&]<class T>(std::size_t offset, T) {
        return offset + sizeof(T) <= file.size() ? reinterpret_cast<const T*>(file.data() + offset) : nullptr;
    };
    Symbols found;
    const auto* const header = at(0, ElfW(Ehdr){});
    for (unsigned s = 0; header && s < header->e_shnum; ++s) {
        const auto section = [&](std::size_t i) {
            return at(header->e_shoff + i * header->e_shentsize, ElfW(Shdr){});
        };
        const auto* const symbols = section(s);
        if (!symbols || symbols->sh_type != SHT_SYMTAB) continue;
        const auto* const names = section(symbols->sh_link);
        for (std::size_t i = 0; names && i < symbols->sh_size / sizeof(ElfW(Sym)); ++i) {
            const auto* const symbol = at(symbols->sh_offset + i * sizeof(ElfW(Sym)), ElfW(Sym){});
            if (!symbol || symbol->st_shndx == SHN_UNDEF) continue;
            const auto* const name = file.data() + names->sh_offset + symbol->st_name;
            const auto type = ELF64_ST_TYPE(symbol->st_info);
            if (type == STT_TLS) found.shared[function_of(name)] += symbol->st_size;
            if (symbol->st_size > 0 && (type == STT_TLS || type == STT_OBJECT))
                (type == STT_TLS ? found.thread_local_variables : found.variables)
                    .push_back({name, {symbol->st_value, symbol->st_value + symbol->st_size}});
            if (type == STT_FUNC) found.functions[symbol->st_value] = name;
        }
    }
    return found;
}

const Symbols& symbols_of(const Image& image) {
    static std::map<std::string, Symbols> known;
    const auto [entry, fresh] = known.try_emplace(image.path);
    if (fresh) entry->second = read_symbols(image.path);
    return entry->second;
}

}  // namespace

Declared most_shared(const Image& image) {
    Declared most;
    for (const auto& [function, size] : symbols_of(image).shared)
        if (size > most.bytes) most = {function, size};
    return most;
}

namespace {

/// A variable with its address and its linker name.
std::optional<Symbol> symbol_at(const Image& image, std::uintptr_t address) {
    const auto& symbols = symbols_of(image);
    const bool shared = image.shared.contains(address);
    const auto base = shared ? image.shared.begin : image.base;
    const Symbol* nearest = nullptr;
    for (const auto& v : shared ? symbols.thread_local_variables : symbols.variables)
        if (v.range.begin <= address - base && (!nearest || v.range.begin > nearest->range.begin))
            nearest = &v;
    if (!nearest) return std::nullopt;
    return Symbol{nearest->name, {base + nearest->range.begin, base + nearest->range.end}};
}

}  // namespace

std::optional<Variable> variable_at(const Image& image, std::uintptr_t address) {
    const auto found = symbol_at(image, address);
    if (!found) return std::nullopt;
    return Variable{own_name(found->name.c_str()), found->range};
}

std::optional<Variable> host_variable_at(const Image& image, std::uintptr_t address,
                                         std::string_view of_device) {
    const auto found = symbol_at(image, address);
    if (!found || !found->range.contains(address)) return std::nullopt;
    const auto words = words_of(of_device);
    const std::string_view symbol = found->name;
    // Made by the compiler, such as "C.0.0" or "vtable for": elements of an initializer, tables of virtual
    // functions.
    const bool made = symbol.find('.') != symbol.npos || symbol.starts_with("_ZT") ||
                      symbol.starts_with("_ZG") || symbol.starts_with("__");
    auto name = own_name(found->name.c_str());
    name.resize(std::min(name.find('<'), name.size()));
    if (made || of_device.empty() || words.contains("*") || words.contains(name) ||
        is_local_to(readable(found->name.c_str()), words))
        return std::nullopt;
    return Variable{name, found->range};
}

bool is_declared(std::string_view function, std::string_view of_device) {
    const auto words = words_of(of_device);
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return word == "*" || function == word ||
               function.find(std::to_string(word.size()).append(word)) != function.npos;
    });
}

std::string function_at(const Image& image, const void* code) {
    const auto& functions = symbols_of(image).functions;
    const auto found = functions.find(reinterpret_cast<std::uintptr_t>(code) - image.base);
    return found == functions.end() ? "" : found->second;
}

std::size_t shared_of(const Image& image, const void* function) {
    const auto& symbols = symbols_of(image);
    const auto found = symbols.functions.find(reinterpret_cast<std::uintptr_t>(function) - image.base);
    if (found == symbols.functions.end()) return 0;
    const auto declared = symbols.shared.find(function_of(found->second.c_str()));
    return declared == symbols.shared.end() ? 0 : declared->second;
}

#else

Image image_of(const void*) { return {}; }
Declared most_shared(const Image&) { return {}; }
std::size_t shared_of(const Image&, const void*) { return 0; }
std::string function_at(const Image&, const void*) { return ""; }
bool is_declared(std::string_view, std::string_view) { return false; }
std::optional<Variable> variable_at(const Image&, std::uintptr_t) { return std::nullopt; }
std::optional<Variable> host_variable_at(const Image&, std::uintptr_t, std::string_view) {
    return std::nullopt;
}

#endif

}  // namespace simt
