#include "outside/host.hpp"

#include "child.hpp"
#include "outside/operations.hpp"
#include "outside/outside.hpp"
#include "simt/constructors.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kata {

namespace {

Channel* to_kernels = nullptr;

template <auto... functions>
void ask_for_all(List<functions...>) {
    ((simt::elsewhere<functions> = Operation<functions>::ask), ...);
}

using CarryOut = void (*)(Message& question, Message& answer);
template <auto... functions>
constexpr std::array<CarryOut, sizeof...(functions)> table_of(List<functions...>) {
    return {Operation<functions>::carry_out...};
}

void reply(const Message& message) {
    flush();
    if (!to_kernels->send(message)) _exit(0);
}

/// Runs host code as the process of the kernels asks.
[[noreturn]] void run_host_code(const Module& module) {
    simt::run_host_code_alone();
    ask_for_all(Operations());
    for (bool loaded = false;; loaded = true) try {
            if (!loaded) {
                simt::run_constructors();
            } else {
                auto message = to_kernels->receive();
                if (!message) _exit(0);
                const auto name = message->get<std::string>();
                const auto invoke = message->get<std::intptr_t>();
                const auto arguments = message->get<std::vector<std::byte>>();
                module.call(name.c_str(), reinterpret_cast<Invoke>(at_offset_in_program(invoke)), arguments);
            }
            simt::give_back_copies();
            reply(Message(Topic::returned));
        } catch (...) {
            reply(thrown_now());
        }
}

}  // namespace

void flush() {
    std::cout.flush();
    std::fflush(nullptr);
}

Message ask_kernels(const Message& question, bool uses_memory) {
    if (uses_memory) {
        simt::give_back_copies();
        flush();  // a kernel may print
    }
    static std::mutex one_at_a_time;  // of the threads of host code
    const std::lock_guard now(one_at_a_time);
    if (!to_kernels->send(question)) _exit(0);
    auto answer = to_kernels->receive();
    if (!answer) _exit(0);
    if (answer->topic() == Topic::thrown) raise(*answer);
    return std::move(*answer);
}

void Sent<simt::Launch>::put(Message& message, const simt::Launch& launch) {
    const auto bytes = std::span(static_cast<const std::byte*>(launch.arguments), launch.arguments_bytes);
    message.put(launch.grid, launch.block, launch.shared_bytes, launch.stream);
    Sent<const void*>::put(message, launch.code);
    Sent<const void*>::put(message, launch.kernel);
    Sent<const char*>::put(message, launch.name);
    Sent<simt::Site>::put(message, launch.site);
    message.put(std::vector(bytes.begin(), bytes.end()), std::uint64_t{launch.parameters});
    for (std::size_t i = 0; i < launch.parameters; ++i) {
        Sent<const void*>::put(message, launch.pointers[i]);
        message.put(launch.numbers[i].has_value(), launch.numbers[i].value_or(0));
    }
}

simt::Launch received_launch(Message& message) {
    static std::vector<std::byte> arguments;
    static std::vector<const void*> pointers;
    static std::vector<std::optional<long long>> numbers;
    simt::Launch launch{};
    message.get(launch.grid, launch.block, launch.shared_bytes, launch.stream);
    launch.code = Sent<const void*>::get(message);
    launch.kernel = Sent<const void*>::get(message);
    launch.name = Sent<const char*>::get(message);
    launch.site = Sent<simt::Site>::get(message);
    message.get(arguments, launch.parameters);
    pointers.clear(), numbers.clear();
    for (std::size_t i = 0; i < launch.parameters; ++i) {
        pointers.push_back(Sent<const void*>::get(message));
        const bool is_number = message.get<bool>();
        const auto number = message.get<long long>();
        numbers.push_back(is_number ? std::optional(number) : std::nullopt);
    }
    pointers.push_back(nullptr), numbers.push_back(std::nullopt);

    const auto& declared = simt::declarations();
    const auto image = simt::image_of(declared.code);
    const std::string_view words(declared.of_device,
                                 static_cast<std::size_t>(declared.of_device_end - declared.of_device));
    const auto call = simt::function_at(image, launch.code);
    const std::string launches = "_ZZN4kata7backend14launch_threadsI", known = "ZNK4simt10ConfiguredI";
    if (!call.starts_with(launches) ||
        (call.find("_4_FUNE") == call.npos && call.find("_8__invokeE") == call.npos))
        throw simt::Forged("a launch of code that launches no kernel");
    if (launch.kernel && !simt::is_declared(simt::function_at(image, launch.kernel), words))
        throw simt::Forged("a launch of a function that is no kernel");
    // The arguments of these begin with the address of the kernel.
    if (call.starts_with(launches + known) &&
        (!launch.kernel || arguments.size() < sizeof launch.kernel ||
         std::memcmp(arguments.data(), &launch.kernel, sizeof launch.kernel) != 0))
        throw simt::Forged("a launch of two kernels at a time");
    launch.call = reinterpret_cast<void (*)(const void*)>(reinterpret_cast<std::uintptr_t>(launch.code));
    launch.constants = declared.constants, launch.constants_end = declared.constants_end;
    launch.of_device = declared.of_device, launch.of_device_end = declared.of_device_end;
    launch.arguments = arguments.data(), launch.arguments_bytes = arguments.size();
    launch.pointers = pointers.data(), launch.numbers = numbers.data();
    return launch;
}

HostProcess::HostProcess(const Module& module, std::initializer_list<int> of_kernels) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error("no process can be started");
    flush();
    id_ = fork_child();
    if (id_ == -1) throw Error("no process can be started");
    if (id_ == 0) {
        close(ends[0]);
        for (const int descriptor : of_kernels) close(descriptor);
        static Channel channel(ends[1]);
        to_kernels = &channel;
        run_host_code(module);
    }
    close(ends[1]);
    channel_.emplace(ends[0]);
    simt::leave_host_code_elsewhere();
    serve();
}

HostProcess::~HostProcess() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
}

void HostProcess::call(const std::string& name, std::intptr_t invoke,
                       const std::vector<std::byte>& arguments) {
    if (forged_) throw *forged_;
    out_of_time_.reset();
    if (!channel_->send(Message(Topic::call).put(name, invoke, arguments))) ended();
    serve();
}

void HostProcess::serve() {
    static constexpr auto table = table_of(Operations());
    const auto distrust = [this](const simt::Forged& why) {
        kill(id_, SIGKILL);
        throw forged_.emplace(why);
    };
    for (;;) {
        auto message = channel_->receive();
        if (!message) ended();
        if (message->topic() == Topic::returned) return;
        if (message->topic() == Topic::thrown) try {
                raise(*message);
            } catch (Error& e) {
                // In a test of billions of elements, a launch out of time is no failure.
                const bool is_of_launch = out_of_time_ && std::strcmp(out_of_time_->what(), e.what()) == 0;
                e.out_of_time = is_of_launch ? out_of_time_->out_of_time : OutOfTime::no;
                throw;
            }
        Message answer(Topic::answer);
        try {
            const auto number = message->topic() == Topic::ask ? message->get<std::uint8_t>() : table.size();
            if (number >= table.size()) throw simt::Forged("a message of no kind");
            table[number](*message, answer);
        } catch (const simt::Forged& e) {
            distrust(e);
        } catch (const Incomplete&) {
            distrust(simt::Forged("a message that ends too early"));
        } catch (const Error& e) {
            if (e.out_of_time != OutOfTime::no) out_of_time_ = e;
            answer = thrown_now();
        } catch (...) {
            answer = thrown_now();
        }
        flush();
        if (!channel_->send(answer)) ended();
    }
}

void HostProcess::ended() {
    flush();
    int status = 0;
    for (int tries = 0; waitpid(id_, &status, WNOHANG) != id_; ++tries) {
        usleep(1000);
        if (tries == 1000) _exit(1);  // it has closed the connection
    }
    if (WIFSIGNALED(status)) {
        std::signal(WTERMSIG(status), SIG_DFL);
        std::raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

}  // namespace kata
