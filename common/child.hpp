// A process that does not outlive the one that has started it.
#pragma once
#include <csignal>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace kata {

/// As fork(). On Linux the child is killed when its parent ends, however that comes about.
inline pid_t fork_child() {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child != 0) return child;
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(1);  // it ended before the child could ask for that
    return child;
}

}  // namespace kata
