#include "judge/first_steps.hpp"
#include "judge/module.hpp"
#include "judge/time_limit.hpp"
#include "outside/message.hpp"
#include "outside/outside.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace kata {

namespace {

std::string program;  // the path of this program

class Outside;
/// The running observation.
struct Observing {
    const Conditions& conditions;
    Outside* in = nullptr;  // the step that has been called, if any
};
Observing* observing = nullptr;

/// A process that waits for a module.
struct Waiting {
    pid_t id = -1;
    int channel = -1;
};
std::vector<Waiting> waiting;

/// Returns the process of this program, started anew, which has inherited these two descriptors only; -1 if
/// there is none.
pid_t start_anew(int channel, int memory) {
    const std::string words[] = {std::to_string(channel), std::to_string(memory)};
    const std::array arguments{program.c_str(), "--run-step", words[0].c_str(), words[1].c_str(),
                               static_cast<const char*>(nullptr)};
    // Unlike fork(), this copies no page tables.
    posix_spawn_file_actions_t inherited;
    posix_spawn_file_actions_init(&inherited);
    for (const int descriptor : {channel, memory})
        posix_spawn_file_actions_adddup2(&inherited, descriptor, descriptor);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_t unblocked;
    posix_spawnattr_init(&unblocked);
    posix_spawnattr_setflags(&unblocked, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&unblocked, &none);
    pid_t id = -1;
    if (posix_spawn(&id, arguments[0], &inherited, &unblocked, const_cast<char* const*>(arguments.data()),
                    environ) != 0)
        id = -1;
    posix_spawnattr_destroy(&unblocked);
    posix_spawn_file_actions_destroy(&inherited);
    return id;
}

#if defined(CLOSE_RANGE_UNSHARE)
/// Does in a fork of this process what start_anew() does.
[[noreturn]] void go_on_as_a_step(int channel, int memory) noexcept {
    unsigned first = STDERR_FILENO + 1;
    for (const int kept : {std::min(channel, memory), std::max(channel, memory)}) {
        const auto next = static_cast<unsigned>(kept);
        if (next > first) close_range(first, next - 1, 0);
        first = std::max(first, next + 1);
    }
    close_range(first, ~0U, 0);
    prctl(PR_SET_DUMPABLE, 1);
    std::signal(SIGALRM, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    observe_elsewhere = nullptr;
    Module::load_elsewhere = nullptr;
    run_step(channel, memory);
    _exit(0);
}
#endif

Waiting start([[maybe_unused]] bool fork_is_safe) {
    const int memory = simt::shared_memory();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error("no process can be started");
    std::cout.flush();
    std::fflush(nullptr);
#if defined(CLOSE_RANGE_UNSHARE)
    const pid_t id = fork_is_safe ? fork() : start_anew(ends[1], memory);
    if (id == 0) go_on_as_a_step(ends[1], memory);
#else
    const pid_t id = start_anew(ends[1], memory);
#endif
    close(ends[1]);
    if (id == -1) {
        close(ends[0]);
        throw Error("no process can be started");
    }
    return {id, ends[0]};
}

/// False if no process of the same user is to open this one's memory and descriptors.
bool can_be_opened() {
#if defined(__linux__)
    return prctl(PR_GET_DUMPABLE) == 1;
#else
    return true;
#endif
}

/// The connection to a step's process.
class Process {
  public:
    Process(const std::filesystem::path& module) {
        if (waiting.empty()) waiting.push_back(start(false));
        id_ = waiting.front().id;
        channel_.emplace(waiting.front().channel);
        waiting.erase(waiting.begin());  // a debugger follows the first one
        also_count(id_);
        send(Message(Topic::load).put(std::filesystem::absolute(module).string(), can_be_opened()));
    }
    ~Process() {
        if (id_ == -1) return;
        channel_.reset();
        if (!ends(nullptr)) {
            kill(id_, SIGKILL);
            waitpid(id_, nullptr, 0);
        }
        no_longer_count(id_);
        no_longer_count(host_);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    void send(const Message& message) {
        if (!channel_->send(message)) ended();
    }
    Message receive() {
        auto message = channel_->receive();
        if (!message) ended();
        return std::move(*message);
    }
    /// Also counts the time of the process of the step's host code.
    void count_host(pid_t id) {
        host_ = id;
        also_count(id);
    }
    Message ask(const Message& question) {
        send(question);
        return receive();
    }

  private:
    /// Returns whether the process ends within a second, now that the connection is closed.
    bool ends(int* status) const {
        for (int tries = 0; tries < 1000; ++tries) {
            if (waitpid(id_, status, WNOHANG) == id_) return true;
            usleep(1000);
        }
        return false;
    }
    /// Ends this process as that of the step has ended, so that the tests have a verdict.
    [[noreturn]] void ended() {
        int status = 0;
        if (!ends(&status)) std::exit(1);
        id_ = -1;
        if (WIFSIGNALED(status)) {
            std::raise(WTERMSIG(status));
            std::_Exit(1);  // in case the signal is ignored
        }
        std::exit(std::max(1, WEXITSTATUS(status)));  // at least 1, so that it does not count as passed
    }

    std::optional<Channel> channel_;
    pid_t id_ = -1, host_ = -1;
};

class Outside final : public Loaded {
  public:
    Outside(const std::filesystem::path& module) : process_(std::make_shared<Process>(module)) {
        auto message = process_->receive();
        if (!message.get<bool>()) throw Error(message.get<std::string>());
        process_->count_host(message.get<pid_t>());
    }

    bool has(const char* symbol) override {
        return process_->ask(Message(Topic::ask_has).put(std::string(symbol))).get<bool>();
    }

    void call(const char* symbol, Invoke invoke, std::span<const std::byte> arguments) override {
        if (!observing) throw Error("a step is called outside of observe()");
        if (observing->in && observing->in != this) throw Error("an observation calls two steps");
        Message message(Topic::call);
        if (!observing->in) {
            const auto* const others = LaunchedAs::current;
            fields_of(observing->conditions, [&](const auto&... fields) { message.put(fields...); });
            message.put(static_cast<bool>(observing->conditions.progress), others != nullptr,
                        others ? *others : std::vector<Launching>());
            observing->in = this;
        }
        message.put(watcher != nullptr, watcher ? watcher->interest() : Interest(), simt::allocations(),
                    std::string(symbol), offset_in_program(reinterpret_cast<const void*>(invoke)),
                    std::vector<std::byte>(arguments.begin(), arguments.end()));
        process_->send(message);
        until(Topic::returned);
    }

    /// Ends the observation and returns it.
    Observation observed() {
        process_->send(Message(Topic::end));
        auto record = until(Topic::observed);
        Observation seen;
        fields_of_seen(seen, [&](auto&... fields) { record.get(fields...); });
        if (record.get<bool>())
            seen.line_of = [process = process_](const Place& place) {
                return process->ask(Message(Topic::ask_line).put(place)).get<std::string>();
            };
        return seen;
    }

  private:
    /// Receives what the step's process sends in between.
    Message until(Topic last) {
        std::exception_ptr thrown;  // by the watcher
        for (;;) {
            auto message = process_->receive();
            try {
                switch (message.topic()) {
                    case Topic::progress:
                        observing->conditions.progress(message.get<double>());
                        continue;
                    case Topic::launch_begins:
                        begin_launch(message);
                        break;
                    case Topic::requests:
                        watch(message);
                        break;
                    case Topic::has_enough:
                        process_->send(Message(Topic::answer).put(!watcher || watcher->has_enough()));
                        continue;
                    case Topic::sample_ends:
                        process_->send(Message(Topic::answer).put(watcher && watcher->sample_ends()));
                        continue;
                    case Topic::thrown:
                        observing->in = nullptr;
                        if (!thrown) raise(message);
                        [[fallthrough]];
                    default:
                        if (thrown) std::rethrow_exception(thrown);
                        if (message.topic() != last)
                            throw Error("the process of a step has sent what nobody asked for");
                        return message;
                }
            } catch (...) {
                if (message.topic() != Topic::launch_begins && message.topic() != Topic::requests) throw;
                thrown = std::current_exception();
            }
            process_->send(Message(Topic::go_on));
        }
    }

    void begin_launch(Message& message) {
        Scene scene;
        message.get(scene.grid, scene.block);
        const std::size_t number = scenes_++;
        // Nothing moves while a launch runs.
        scene.array_at = [process = process_, number,
                          known = std::make_shared<std::vector<Array>>()](std::uintptr_t at) {
            for (const auto& array : *known)
                if (at - array.begin < array.bytes) return array;
            auto answer = process->ask(Message(Topic::ask_array).put(number, at));
            Array array;
            answer.get(array.name, array.begin, array.bytes);
            known->push_back(array);
            return array;
        };
        scene.lines_of = [process = process_, number](std::span<const std::uint32_t> codes) {
            return process
                ->ask(Message(Topic::ask_lines)
                          .put(number, std::vector<std::uint32_t>(codes.begin(), codes.end())))
                .template get<std::vector<std::string>>();
        };
        scene.text_of = [process = process_, number](const std::string& file) {
            return process->ask(Message(Topic::ask_text).put(number, file)).get<std::string>();
        };
        if (watcher) watcher->launch_begins(scene);
    }

    static void watch(Message& message) {
        while (!message.at_end() && watcher) {
            SentRequest sent;
            message.unpack(sent);
            sent.request.did = names_of_did[sent.did % std::size(names_of_did)];
            sent.request.memory = names_of_memory[sent.memory % std::size(names_of_memory)];
            watcher->request(sent.request);
        }
    }

    std::shared_ptr<Process> process_;
    std::size_t scenes_ = 0;
};

Observation observe_outside(const Conditions& conditions, const std::function<void()>& work) {
    if (observing) throw Error("observe() inside of observe()");
    Observing now{conditions};
    observing = &now;
    struct Reset {
        ~Reset() { observing = nullptr; }
    } const reset;
    try {
        work();
    } catch (...) {
        if (now.in) try {
                now.in->observed();
            } catch (...) {  // the first exception is the cause
            }
        throw;
    }
    if (now.in) return now.in->observed();
    Observation nothing;
    if (conditions.metered && counts_available()) nothing.counts.emplace();
    return nothing;
}

}  // namespace

std::intptr_t offset_in_program(const void* function) {
    return reinterpret_cast<std::intptr_t>(function) - reinterpret_cast<std::intptr_t>(&offset_in_program);
}
void* at_offset_in_program(std::intptr_t offset) {
    return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(&offset_in_program) + offset);
}

std::optional<int> judge_from_outside(std::span<char* const> arguments) {
    if (arguments.size() == 4 && arguments[1] == std::string("--run-step")) {
        run_step(std::atoi(arguments[2]), std::atoi(arguments[3]));
        return 0;
    }
    std::error_code none;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", none);
    program = none ? std::filesystem::absolute(arguments[0]) : own;
    simt::share_memory();
    observe_elsewhere = observe_outside;
    Module::load_elsewhere = [](const std::filesystem::path& path) -> std::shared_ptr<Loaded> {
        return std::make_shared<Outside>(path);
    };
    return std::nullopt;
}

void expect_steps() {
    constexpr std::size_t most = 2;  // most tests need no more than the step and its solution
    simt::shared_memory();
    try {
        while (waiting.size() < most) waiting.push_back(start(true));
    } catch (const Error&) {  // a process that is missing is started when it is needed
    }
}

}  // namespace kata
