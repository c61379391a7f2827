// Runs another program and reads its output.
#pragma once
#include "error.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kata {

/// Destination of a program's standard error: the standard error of this process, its own output, or nowhere.
enum class Errors { ours, joined, dropped };

struct Ended {
    std::string output;
    int status = 0;  ///< from waitpid(); an exit with 127 if there is no such program
};

/// Runs command[0], found like a shell does, with the rest as its arguments, and waits until it ends.
inline Ended run_program(const std::vector<std::string>& command, Errors errors = Errors::ours) {
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    int ends[2];
    if (pipe(ends) != 0) throw Error("no pipe is available");
    // Not fork(), which would copy the page tables of a suite's memory for a program that needs none of it.
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (errors == Errors::joined) posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    if (errors == Errors::dropped)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    pid_t child = -1;
    const int error = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    Ended ended;
    std::array<char, 4096> buffer;
    for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
        ended.output.append(buffer.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    if (error == EAGAIN || error == ENOMEM) throw Error("no process can be started");
    ended.status = 127 << 8;
    if (error == 0) waitpid(child, &ended.status, 0);
    return ended;
}

}  // namespace kata
