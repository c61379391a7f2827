#include "simt/search.hpp"

#include "child.hpp"
#include "cores.hpp"
#include "error.hpp"
#include "simt/block.hpp"
#include "simt/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace simt {

namespace {

constexpr std::size_t large = 1 << 20, at_the_end = 64;
constexpr unsigned most_seconds = 20;
constexpr std::size_t most_blocks = 4096;
constexpr unsigned most_processes = 8;  // each of which may find an equal part of most_blocks

std::vector<Range> ends;  // whole pages, protected
bool reached = false;     // by the running block

void protect_ends(int how) {
    for (const auto& pages : ends) mprotect(reinterpret_cast<void*>(pages.begin), pages.size(), how);
}

void handle_fault_at_end(int signal, siginfo_t* info, void*) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (!reached && std::any_of(ends.begin(), ends.end(), [&](auto& e) { return e.contains(address); })) {
        reached = true;
        protect_ends(PROT_READ | PROT_WRITE);
        return;
    }
    if (running) give_up("out of bounds");
    std::signal(signal, SIG_DFL);
}

void find_ends() {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (const auto& a : allocations()) {
        if (a.range.size() < large) continue;
        const auto first = a.range.begin / page * page, last = (a.range.end - at_the_end) / page * page;
        ends.push_back({first, first + page});
        ends.push_back({last, (a.range.end + page - 1) / page * page});
    }
}

/// Written by a process after the blocks that it has found, if it left none out.
constexpr std::uint64_t no_more = ~std::uint64_t{0};

/// A part of the blocks, in groups: neighbours write to the same pages.
struct Part {
    static constexpr std::uint64_t group = 64;
    std::uint64_t blocks, which, of;
    bool contains(std::uint64_t block) const { return block / group % of == which; }
    /// Returns the first block of the part from `block` on; `blocks` if there is none.
    std::uint64_t from(std::uint64_t block) const {
        if (!contains(block)) block = (block / group + (which + of - block / group % of) % of) * group;
        return std::min(block, blocks);
    }
};

void search(const Part& part, const std::function<void(const NextBlock&)>& run, int output) {
    for (const int fatal : {SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) std::signal(fatal, SIG_DFL);
    alarm(most_seconds);
    struct sigaction action {};
    action.sa_sigaction = handle_fault_at_end;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;  // the handler may never return
    sigaction(SIGSEGV, &action, nullptr);
    find_ends();
    protect_ends(PROT_NONE);
    const auto tell = [output](std::uint64_t what) {
        if (write(output, &what, sizeof what) != sizeof what) _exit(1);
    };
    std::size_t found = 0;
    std::uint64_t next = part.from(0), last = 0;
    run([&]() -> std::optional<std::uint64_t> {
        if (reached) {
            if (found++ == most_blocks / part.of) _exit(0);
            tell(last);
            reached = false;
            protect_ends(PROT_NONE);
        }
        if (next == part.blocks) return std::nullopt;
        last = next;
        next = part.from(last + 1);
        return last;
    });
    tell(no_more);
}

}  // namespace

Found search_blocks(std::uint64_t blocks, const std::function<void(const NextBlock&)>& run) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) throw kata::Error("no process can be started to search the blocks");
    std::vector<pid_t> children;
    const std::uint64_t parts = std::min(kata::cores(), most_processes);
    for (std::uint64_t which = 0; which < parts; ++which) {
        const pid_t child = kata::fork_child();
        if (child == 0) {
            close(pipe_ends[0]);
            try {
                search({blocks, which, parts}, run, pipe_ends[1]);
            } catch (const std::exception&) {  // the search is incomplete then
            }
            _exit(0);
        }
        if (child > 0) children.push_back(child);
    }
    close(pipe_ends[1]);
    Found found;
    std::uint64_t told = 0, done = 0;
    for (ssize_t n; (n = read(pipe_ends[0], &told, sizeof told)) != 0;) {
        if (n == -1 && errno == EINTR) continue;
        if (n != sizeof told) break;
        if (told == no_more)
            ++done;
        else
            found.blocks.insert(told);
    }
    close(pipe_ends[0]);
    for (const auto child : children)
        while (waitpid(child, nullptr, 0) == -1 && errno == EINTR) {
        }
    if (children.empty()) throw kata::Error("no process can be started to search the blocks");
    found.complete = done == parts;
    return found;
}

}  // namespace simt
