// A child process that does not outlive its parent.
#pragma once
#include <csignal>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace kata {

/// Like fork(). On Linux the child is killed when its parent ends for any reason.
inline pid_t fork_child() {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child != 0) return child;
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(1);  // it ended before prctl() took effect
    return child;
}

}  // namespace kata
