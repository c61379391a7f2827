#include "simt/workers.hpp"

#include "child.hpp"
#include "cores.hpp"
#include "error.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace simt {

namespace {

/// Shared by all processes of a launch, in addition to device memory.
struct Common {
    std::atomic<std::uint64_t> taken{0}, done{0};
    struct alignas(64) Lock {
        std::atomic_flag held = ATOMIC_FLAG_INIT;
    };
    std::array<Lock, 64> locks;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Common* common = nullptr;  // while there are workers

void* common_memory(std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw kata::Error("no memory can be shared between processes");
    return memory;
}

}  // namespace

#if defined(__linux__)

bool can_share_out() { return true; }

void have_in_common(const Range& memory) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = memory.begin / page * page, end = (memory.end + page - 1) / page * page;
    if (begin == end) return;
    auto* const place = reinterpret_cast<void*>(begin);
    void* const copy = common_memory(end - begin);
    std::memcpy(copy, place, end - begin);
    if (mremap(copy, end - begin, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED)
        throw kata::Error("device memory cannot be shared between processes");
}

#else

bool can_share_out() { return false; }
void have_in_common(const Range&) {}

#endif

Workers::Workers(const std::function<void(const Workers&)>& work) {
    common = new (common_memory(sizeof(Common))) Common;
    for (unsigned i = kata::cores(); i > 0; --i) {
        int ends[2];
        const pid_t child = pipe(ends) == 0 ? kata::fork_child() : -1;
        if (child == -1) {
            end();
            throw kata::Error("no process can be started to run blocks");
        }
        if (child > 0) {
            close(ends[1]);
            processes_.push_back({child, ends[0]});
            continue;
        }
        // The handlers of the tests would report these twice.
        for (const int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(fatal, SIG_DFL);
        // The fault to report; empty after a correct run.
        std::string fault;
        try {
            work(*this);
        } catch (const kata::OpenKata&) {
            fault = "open";
        } catch (const std::exception& e) {
            fault = std::string("fault ") + e.what();
        }
        const bool said = write(ends[1], fault.data(), fault.size()) == static_cast<ssize_t>(fault.size());
        _exit(said ? 0 : 1);  // without destructors, which are the parent's
    }
}

Workers::~Workers() { end(); }

void Workers::end() noexcept {
    for (const auto& process : processes_) {
        kill(process.pid, SIGKILL);
        waitpid(process.pid, nullptr, 0);
        close(process.output);
    }
    processes_.clear();
    munmap(common, sizeof(Common));
    common = nullptr;
}

std::uint64_t Workers::take() const { return common->taken++; }
void Workers::done() const { ++common->done; }
std::uint64_t Workers::all_done() const { return common->done; }

void Workers::wait(const std::function<void()>& meanwhile) {
    while (!processes_.empty()) {
        std::vector<pollfd> outputs;
        for (const auto& process : processes_) outputs.push_back({process.output, POLLIN, 0});
        poll(outputs.data(), outputs.size(), 100);
        meanwhile();
        for (std::size_t i = outputs.size(); i-- > 0;) {
            if (outputs[i].revents == 0) continue;
            const auto process = processes_[i];
            std::string said;
            std::array<char, 4096> buffer;
            for (ssize_t n; (n = read(process.output, buffer.data(), buffer.size())) > 0;)
                said.append(buffer.data(), static_cast<std::size_t>(n));
            int status = 0;
            while (waitpid(process.pid, &status, 0) == -1 && errno == EINTR) {
            }
            close(process.output);
            processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(i));
            if (said == "open") throw kata::OpenKata();
            if (said.starts_with("fault ")) throw kata::Error(said.substr(6));
            if (WIFSIGNALED(status))
                throw kata::Error("the step crashed in a block that was not counted: " +
                                  std::string(strsignal(WTERMSIG(status))) +
                                  "; --full counts all blocks and says where");
        }
    }
}

void* lock_for(const void* address) {
    if (!common) return nullptr;
    auto& held = common->locks[reinterpret_cast<std::uintptr_t>(address) / 8 % common->locks.size()].held;
    while (held.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    return &held;
}

void unlock(void* lock) {
    if (lock) static_cast<std::atomic_flag*>(lock)->clear(std::memory_order_release);
}

}  // namespace simt
