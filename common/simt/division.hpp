// Integer division by zero in a kernel. A GPU returns some number and goes on; this processor raises a
// signal.
#pragma once
#include <csignal>

namespace simt {

/// While it lives, calls `divided` when the program divides by zero: from a signal handler, on the stack of
/// the division, which `divided` may abandon. `code` is the address after the first byte of the instruction;
/// null if unknown. If `divided` returns, the program ends as it would have.
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
