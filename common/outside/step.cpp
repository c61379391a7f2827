#include "judge/module.hpp"
#include "outside/host.hpp"
#include "outside/message.hpp"
#include "outside/outside.hpp"
#include "simt/constructors.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <exception>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <sys/resource.h>
#include <utility>
#if defined(__linux__)
#include <cstddef>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace kata {

namespace {

std::uint32_t index_of(const char* const (&names)[4], const char* name) {
    const auto* const found =
        std::find_if(std::begin(names), std::end(names), [&](std::string_view n) { return n == name; });
    return static_cast<std::uint32_t>(found - std::begin(names));
}

class StepProcess final : public Watcher {
  public:
    StepProcess(const std::string& module, Channel& channel, std::initializer_list<int> own)
        : channel_(channel), module_(module), host_(std::in_place, module_, own) {
        send(Message(Topic::loaded).put(true, host_->id()));
    }

    /// Ends the process when the judge has ended.
    [[noreturn]] void serve() {
        for (;;) {
            auto message = next();
            try {
                observe(message);
            } catch (...) {
                failed(thrown_now());
            }
        }
    }

    // As a watcher, passes on what happens.
    void launch_begins(const Scene& scene) override {
        pass_on();
        scenes_.push_back(scene);
        send(Message(Topic::launch_begins).put(scene.grid, scene.block));
        wait();
    }
    void request(const Request& request) override {
        constexpr std::size_t most = 1 << 16;  // bytes
        if (request.bytes == 0 && !interest_.blocks) return;
        SentRequest sent{request, index_of(names_of_did, request.did),
                         index_of(names_of_memory, request.memory)};
        sent.request.did = sent.request.memory = nullptr;
        if (!interest_.addresses) sent.request.addresses = {};
        if (!interest_.counts) sent.request.counts = {};
        requests_.pack(sent);
        if (requests_.bytes().size() >= most) pass_on();
    }
    bool has_enough() override {
        pass_on();
        send(Message(Topic::has_enough));
        return next().get<bool>();
    }
    bool sample_ends() override {
        pass_on();
        send(Message(Topic::sample_ends));
        return next().get<bool>();
    }

  private:
    void send(const Message& message) {
        if (!channel_.send(message)) end();
    }
    [[noreturn]] void end() {
        flush();
        host_.reset();
        _exit(0);
    }

    /// Returns the next message that is no question. Answers the questions before it.
    Message next() {
        for (;;) {
            auto message = channel_.receive();
            if (!message) end();
            Message answer(Topic::answer);
            const auto scene = [&]() -> const Scene& { return scenes_.at(message->get<std::size_t>()); };
            switch (message->topic()) {
                case Topic::ask_has:
                    answer.put(module_.has(message->get<std::string>().c_str()));
                    break;
                case Topic::ask_array: {
                    const auto array = scene().array_at(message->get<std::uintptr_t>());
                    answer.put(array.name, array.begin, array.bytes);
                    break;
                }
                case Topic::ask_lines: {
                    const auto& of = scene();
                    answer.put(of.lines_of(message->get<std::vector<std::uint32_t>>()));
                    break;
                }
                case Topic::ask_text: {
                    const auto& of = scene();
                    answer.put(of.text_of(message->get<std::string>()));
                    break;
                }
                case Topic::ask_line:
                    answer.put(line_of_ ? line_of_(message->get<Place>()) : std::string());
                    break;
                default:
                    return std::move(*message);
            }
            send(answer);
        }
    }
    /// Waits until the judge has seen what was sent.
    void wait() { next(); }
    void pass_on() {
        if (requests_.bytes().size() == 1) return;
        send(std::exchange(requests_, Message(Topic::requests)));
        wait();
    }

    /// Makes an observation that begins with this call.
    void observe(Message& first) {
        Conditions conditions;
        fields_of(conditions, [&](auto&... fields) { first.get(fields...); });
        const auto tells = first.get<bool>(), launches_as = first.get<bool>();
        const auto others = first.get<std::vector<Launching>>();
        if (tells) conditions.progress = [this](double done) { send(Message(Topic::progress).put(done)); };
        std::optional<LaunchedAs> as_there;
        if (launches_as) as_there.emplace(others);
        const auto seen = kata::observe(conditions, [&] {
            call(first);
            for (auto message = next(); message.topic() == Topic::call; message = next()) call(message);
        });
        flush();
        if (seen.line_of) line_of_ = seen.line_of;
        Message record(Topic::observed);
        fields_of_seen(seen, [&](const auto&... fields) { record.put(fields...); });
        send(record.put(static_cast<bool>(seen.line_of)));
    }

    void call(Message& message) {
        const bool watched = message.get<bool>();
        message.get(interest_);
        simt::adopt(message.get<std::vector<simt::Allocation>>());
        const auto name = message.get<std::string>();
        const auto invoke = message.get<std::intptr_t>();
        const auto arguments = message.get<std::vector<std::byte>>();
        watcher = watched ? this : nullptr;
        host_->call(name, invoke, arguments);
        watcher = nullptr;
        pass_on();
        send(Message(Topic::returned));
    }

    void failed(const Message& thrown) {
        watcher = nullptr;
        pass_on();
        flush();
        send(thrown);
    }

    Channel& channel_;
    Module module_;
    std::optional<HostProcess> host_;    // always there
    Message requests_{Topic::requests};  // not yet passed on
    Interest interest_;                  // fields that the judge's watcher uses
    std::deque<Scene> scenes_;
    std::function<std::string(const Place&)> line_of_;
};

#if defined(__x86_64__) && defined(AUDIT_ARCH_X86_64)
/// Has Linux refuse to change the limits of another process: without memory or files, the judge would leave
/// out tests that need them.
void leave_limits_of_others() {
    constexpr std::uint16_t load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K,
                            at_least = BPF_JMP | BPF_JGE | BPF_K, answer = BPF_RET | BPF_K;
    constexpr std::uint32_t other_calls = 0x40000000;  // the numbers of x32 begin there
    sock_filter rules[] = {{load, 0, 0, offsetof(seccomp_data, arch)},
                           {equal, 0, 6, AUDIT_ARCH_X86_64},
                           {load, 0, 0, offsetof(seccomp_data, nr)},
                           {at_least, 4, 0, other_calls},
                           {equal, 0, 2, SYS_prlimit64},
                           {load, 0, 0, offsetof(seccomp_data, args[0])},
                           {equal, 0, 1, 0},  // 0: of this process
                           {answer, 0, 0, SECCOMP_RET_ALLOW},
                           {answer, 0, 0, SECCOMP_RET_ERRNO | EPERM}};
    const sock_fprog filter{std::size(rules), rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}
#else
void leave_limits_of_others() {}
#endif

/// Sets what holds for this process and not for the judge, which it does not outlive.
void become_step_process() {
    constexpr rlim_t most = 64 << 20;  // so that it fills no disk
    rlimit of_file{};
    getrlimit(RLIMIT_FSIZE, &of_file);
    of_file.rlim_cur = of_file.rlim_max = std::min(of_file.rlim_max, most);
    setrlimit(RLIMIT_FSIZE, &of_file);
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    leave_limits_of_others();
#if defined(__GLIBC__)
    // Memory that one launch has freed is kept for the next. Otherwise its pages would be cleared anew.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace

void run_step(int channel, int memory) {
    become_step_process();
    for (const int descriptor : {channel, memory}) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    simt::share_memory_of_judge(memory);
    simt::delay_constructors();
    Channel to_judge(channel);
    auto first = to_judge.receive();
    if (!first) return;
    try {
        const auto module = first->get<std::string>();
        StepProcess step(module, to_judge, {channel, memory});
#if defined(__linux__)
        if (!first->get<bool>()) prctl(PR_SET_DUMPABLE, 0);  // host code waits
#endif
        step.serve();
    } catch (const Error& e) {
        to_judge.send(Message(Topic::loaded).put(false, std::string(e.what())));
    }
}

}  // namespace kata
