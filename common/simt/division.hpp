// An integer division by zero in a kernel: a GPU gives some number and goes on; this processor stops the
// program.
#pragma once
#include <csignal>

namespace simt {

/// While it lives, calls `divided` where the program divides by zero: from a signal handler, on the stack of
/// whoever did, which `divided` may leave for good. `code` is the address behind the first byte of the
/// instruction, null where that is not known. If `divided` returns, the program ends as it would have.
class DivisionTrap {
  public:
    explicit DivisionTrap(void (*divided)(const void* code));
    ~DivisionTrap();
    DivisionTrap(const DivisionTrap&) = delete;
    DivisionTrap& operator=(const DivisionTrap&) = delete;

  private:
    struct sigaction before_ {};
};

}  // namespace simt
