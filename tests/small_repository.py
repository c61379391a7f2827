"""A repository of one chapter with one step, for tests."""

from __future__ import annotations

import pathlib
import tempfile
import unittest

import paths  # noqa: F401  it makes the modules below importable

import contract
from repository import Repository

SOLUTION = """// 01 Add: a thread an element.
// Mirrors nothing.
#include "sums.cuh"

__global__ void add(const float* a, float* b, int n) {
    // kata: begin
    const int i = threadIdx.x;

    if (i < n) b[i] = a[i];
    __syncthreads();
    __syncthreads();
    // kata: end
}

int sum(int n) {
    // kata: begin
    return n;
    // kata: end
}
"""
STUB = """// 01 Add: a thread an element.
// Mirrors nothing.
#include "sums.cuh"

__global__ void add(const float* a, float* b, int n) {
    // kata: begin
    // A thread an element.
    kata::open();
    // kata: end
}

int sum(int n) {
    // kata: begin
    // All of them.
    kata::open();
    return 0;
    // kata: end
}
"""
NO_GUARD = """== no_guard
// Threads beyond the end write, too.
// Rejected: out of bounds
-     if (i < n) b[i] = a[i];
+     b[i] = a[i];
"""
HINTS = """# Hints

## 01 Add

### Question

Which element is mine?

### Approach

The thread's number; beyond the end there is none.

### Nearly the code

```cuda
if (/* there is one */) b[i] = …;
```
"""
STYLE = "// A grid-stride loop.\n" + SOLUTION


class SmallRepository(unittest.TestCase):
    """A repository of one chapter with one step."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="kata-facts-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.repository = Repository(self.root)
        self.write("solutions/sums/01_add.cu", SOLUTION)
        self.write("chapters/sums/01_add.cu", STUB)
        self.write(
            "chapters/sums/README.md",
            "| step | what |\n| --- | --- |\n| [01 add](01_add.cu) | all |\n\n| other |\n\n### 01 Add\n",
        )
        (self.root / "solutions/sums/README.md").symlink_to("../../chapters/sums/README.md")
        self.write("chapters/sums/hints.md", HINTS)
        (self.root / "solutions/sums/hints.md").symlink_to("../../chapters/sums/hints.md")
        self.write("README.md", "| [sums](chapters/sums/README.md) | first | fast |\n")
        self.write("chapters/CUDA.md", "A barrier: `__syncthreads()`.\n")
        self.mistakes = self.write("tests/wrong/sums/01_add.mistakes", NO_GUARD)

    def write(self, path: str, text: str) -> pathlib.Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def complaints(self) -> list[str]:
        return list(contract.check_folders(self.repository))
