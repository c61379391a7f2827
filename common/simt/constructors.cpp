#include "simt/constructors.hpp"

#include <span>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace simt {

namespace {

using Constructor = void (*)(int, char**, char**);
bool delayed = false;
std::vector<Constructor> waiting;
Declarations declared;

#if defined(__linux__)
void nothing(int, char**, char**) {}

struct Constructors {
    std::uintptr_t code;
    std::span<Constructor> found = {};
};

/// Finds the constructors of the module that has this code.
int find_constructors(dl_phdr_info* module, std::size_t, void* data) {
    auto& search = *static_cast<Constructors*>(data);
    const ElfW(Dyn)* dynamic = nullptr;
    bool mine = false;
    for (int i = 0; i < module->dlpi_phnum; ++i) {
        const auto& p = module->dlpi_phdr[i];
        const auto begin = module->dlpi_addr + p.p_vaddr;
        if (p.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
        mine = mine || (p.p_type == PT_LOAD && search.code - begin < p.p_memsz);
    }
    if (!mine || !dynamic) return mine;
    std::uintptr_t at = 0, bytes = 0;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
        if (dynamic->d_tag == DT_INIT_ARRAY) at = module->dlpi_addr + dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_INIT_ARRAYSZ) bytes = dynamic->d_un.d_val;
    }
    search.found = {reinterpret_cast<Constructor*>(at), bytes / sizeof(Constructor)};
    return 1;
}
#endif

}  // namespace

void delay_constructors() { delayed = true; }

void run_constructors() {
    delayed = false;
    for (const auto constructor : std::exchange(waiting, {})) constructor(0, nullptr, nullptr);
}

const Declarations& declarations() { return declared; }

void module_begins(const Declarations& d) {
    if (!delayed) return;
    declared = d;
#if defined(__linux__)
    Constructors search{reinterpret_cast<std::uintptr_t>(d.code)};
    dl_iterate_phdr(find_constructors, &search);
    // The loader, which has called the first one, calls one after the other of this table.
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto all = search.found;
    const auto begin = reinterpret_cast<std::uintptr_t>(all.data()) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(all.data() + all.size());
    mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE);
    bool is_later = false;
    for (auto& constructor : all) {
        if (is_later) waiting.push_back(std::exchange(constructor, nothing));
        is_later = is_later || reinterpret_cast<const void*>(constructor) == d.code;
    }
#endif
}

}  // namespace simt
