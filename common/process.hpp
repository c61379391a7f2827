// Runs another program and reads what it writes.
#pragma once
#include "error.hpp"

#include <array>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kata {

/// Where a program's standard error stream goes: where ours goes, to its output, or nowhere.
enum class Errors { ours, joined, dropped };

struct Ended {
    std::string output;
    int status = 0;  ///< as waitpid() gives it; of a program that is not there, an exit with 127
};

/// Runs command[0], looked for as a shell does, with the rest as its arguments, and waits for its end.
inline Ended run_program(const std::vector<std::string>& command, Errors errors = Errors::ours) {
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    int ends[2];
    if (pipe(ends) != 0) throw Error("no pipe to be had");
    const pid_t child = fork();
    if (child == -1) throw Error("no process to be had");
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (errors == Errors::joined) dup2(ends[1], STDERR_FILENO);
        if (errors == Errors::dropped) dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(words[0], words.data());
        _exit(127);
    }
    close(ends[1]);
    Ended ended;
    std::array<char, 4096> buffer;
    for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
        ended.output.append(buffer.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    waitpid(child, &ended.status, 0);
    return ended;
}

}  // namespace kata
