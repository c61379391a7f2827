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
#include <utility>

namespace kata {

namespace {

std::string program;  // the path of this one

class Outside;
/// The running observation.
struct Observing {
    const Conditions& conditions;
    Outside* in = nullptr;  // the step that has been called, if any
};
Observing* observing = nullptr;

struct NoException {};

/// Raises what a call has thrown in the step's process.
[[noreturn]] void raise(Message& message) {
    const auto what = message.get<Threw>();
    Error e(message.get<std::string>());
    message.get(e.launched, e.launches, e.findings, e.out_of_time);
    switch (what) {
        case Threw::open:
            throw OpenKata();
        case Threw::error:
            throw e;
        case Threw::bad_alloc:
            throw std::bad_alloc();
        case Threw::exception:
            throw std::runtime_error(e.what());
        case Threw::other:
            break;
    }
    throw NoException();
}

/// The connection to a step's process.
class Process {
  public:
    Process(const std::filesystem::path& module) {
        const int memory = simt::shared_memory();
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw Error("no process can be started");
        channel_.emplace(ends[0]);
        const auto path = std::filesystem::absolute(module).string();
        const std::string channel = std::to_string(ends[1]), shared = std::to_string(memory);
        std::array words{program.c_str(), "--run-step",   path.c_str(),
                         channel.c_str(), shared.c_str(), static_cast<const char*>(nullptr)};
        std::cout.flush();
        std::fflush(nullptr);
        // Unlike fork(), this copies no page tables. Only what the step needs is inherited.
        posix_spawn_file_actions_t inherited;
        posix_spawn_file_actions_init(&inherited);
        for (const int descriptor : {ends[1], memory})
            posix_spawn_file_actions_adddup2(&inherited, descriptor, descriptor);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_t unblocked;
        posix_spawnattr_init(&unblocked);
        posix_spawnattr_setflags(&unblocked, POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setsigmask(&unblocked, &none);
        const bool started = posix_spawn(&id_, words[0], &inherited, &unblocked,
                                         const_cast<char* const*>(words.data()), environ) == 0;
        posix_spawnattr_destroy(&unblocked);
        posix_spawn_file_actions_destroy(&inherited);
        close(ends[1]);
        if (!started) throw Error("no process can be started");
        also_count(id_);
    }
    ~Process() {
        if (id_ == -1) return;
        channel_.reset();
        if (!ends(nullptr)) {
            kill(id_, SIGKILL);
            waitpid(id_, nullptr, 0);
        }
        no_longer_count(id_);
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
            std::_Exit(1);  // if that is ignored
        }
        std::exit(WEXITSTATUS(status));
    }

    std::optional<Channel> channel_;
    pid_t id_ = -1;
};

class Outside final : public Loaded {
  public:
    Outside(const std::filesystem::path& module) : process_(std::make_shared<Process>(module)) {
        auto message = process_->receive();
        if (!message.get<bool>()) throw Error(message.get<std::string>());
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
                            throw Error("the process of a step has sent what it was not asked");
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
            } catch (...) {  // what has been thrown first is the cause
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
    if (arguments.size() == 5 && arguments[1] == std::string("--run-step")) {
        run_step(arguments[2], std::atoi(arguments[3]), std::atoi(arguments[4]));
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

}  // namespace kata
