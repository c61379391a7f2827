#include "simt/image.hpp"

#if defined(__linux__)
#include <link.h>
#include <unistd.h>

// The loader's own way to a module's thread-local storage, which also makes it where it has not been touched
// yet.
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
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& p = info->dlpi_phdr[i];
        const Range range{info->dlpi_addr + p.p_vaddr, info->dlpi_addr + p.p_vaddr + p.p_memsz};
        if (p.p_type == PT_TLS) thread_local_bytes = p.p_memsz;
        if (p.p_type != PT_LOAD) continue;
        mine = mine || range.contains(search.code);
        if (image.all.begin == 0 || range.begin < image.all.begin) image.all.begin = range.begin;
        if (range.end > image.all.end) image.all.end = range.end;
        if (p.p_flags & PF_W) image.writable = range;
    }
    if (!mine) return 0;
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

#else

Image image_of(const void*) { return {}; }

#endif

}  // namespace simt
