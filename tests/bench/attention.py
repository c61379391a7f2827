#!/usr/bin/env python3
"""Times the attention chapter's last steps beside PyTorch, on a machine with a GPU and PyTorch: attention.py
BUILD

Prints the table of ./kata bench. tests/on_gpu.sh bench calls it. The library runs in PyTorch's process, where
the modules of the steps are loaded, too: both use the default stream. Of PyTorch's back ends for attention,
each that takes the problem is timed, and the fastest one is the library. A step and the library run in turn,
with an L2 cache that has been overwritten. Every result is compared with one in double.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "front"))
from repository import Repository, module

HEADINGS = (
    "chapter,case,kind,kernel,verdict,ms,spread in %,GB/s,TFLOP/s,% of ceiling,times as fast as the library,"
    "at least,at most,runs,copies"
)
ROUNDING = 2.0**-24
# The functions that the suites' executables define for a step (common/gpu/cuda.hpp).
ERRORS = """
#include <cstdio>
#include <cstdlib>
enum cudaError : int {};
namespace kata::backend {
[[noreturn]] void fail(cudaError error, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: CUDA error %d\\n", file, line, int(error));
    std::exit(1);
}
[[noreturn]] void stop_at_open() { std::exit(1); }
}
"""
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cuDNN": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}
SAMPLE = 32  # queries of each head that are compared


class Case(NamedTuple):
    """A problem on the GPU: what it reads and writes, and how the result is judged."""

    name: str
    entry: str  # the function that a step defines
    arguments: tuple[object, ...]  # of that function
    out: torch.Tensor
    library: dict[str, Callable[[], torch.Tensor]]
    wrong: Callable[[torch.Tensor], str]  # returns "" for a right result
    ceiling: Callable[[], object]  # the copy or product that bounds it
    bytes: float  # that a solution must move
    operations: float
    ceiling_operations: float  # 0 if bytes bound it


def complaint(got: torch.Tensor, right: torch.Tensor, bound: torch.Tensor) -> str:
    beyond = ~((got.double() - right).abs() <= bound)  # also where it is NaN
    return f"{int(beyond.sum())} of {beyond.numel()} elements differ" if bool(beyond.any()) else ""


def softmax(rows: int, columns: int) -> Case:
    x = torch.empty(rows, columns, device="cuda").uniform_(-8, 8)
    out = torch.empty_like(x)

    # As in reference/attention.cpp.
    def wrong(got: torch.Tensor) -> str:
        some = slice(0, rows, max(1, rows // 256))
        exact = x[some].double()
        right = torch.softmax(exact, -1)
        largest = exact.amax(-1, keepdim=True)
        off = 5 * (largest - exact) + exact.abs() + largest.abs()
        shared = (right * off).sum(-1, keepdim=True)
        bound = right * ROUNDING * (off + shared + 8 + 6 * columns + 4) + 2.0**-125
        return complaint(got[some], right, bound)

    return Case(
        f"softmax of {rows} x {columns}",
        "softmax",
        (x, out, rows, columns),
        out,
        {"softmax": lambda: torch.softmax(x, -1)},
        wrong,
        lambda: out.copy_(x),
        8.0 * rows * columns,
        0,
        0,
    )


def attention(heads: int, n: int, d: int, causal: bool, dtype: torch.dtype) -> Case:
    narrow = dtype == torch.bfloat16
    q, k, v = (torch.empty(1, heads, n, d, device="cuda").uniform_(-2, 2).to(dtype) for _ in range(3))
    out = torch.empty(1, heads, n, d, device="cuda")

    # As in reference/attention.cpp, for some queries of each head.
    def wrong(got: torch.Tensor) -> str:
        queries = torch.arange(n - 1, -1, -max(1, n // SAMPLE), device="cuda")
        hidden = torch.arange(n, device="cuda")[None, :] > queries[:, None]
        of_a_product, of_a_weight = (3.0, 2.0**15) if narrow else (1.0, 0.0)
        for head in range(heads):
            some, keys, values = (x[0, head].double() for x in (q[:, :, queries], k, v))
            scores = some @ keys.T / math.sqrt(d)
            terms = some.abs() @ keys.abs().T / math.sqrt(d)
            if causal:
                scores, terms = scores.masked_fill(hidden, -math.inf), terms.masked_fill(hidden, 0)
            weights = torch.softmax(scores, -1)
            seen = (queries + 1 if causal else torch.full_like(queries, n))[:, None]
            off = (of_a_product * d + 14) * terms.amax(-1, keepdim=True) + (of_a_product + 5) * seen
            bound = 2 * ROUNDING * (off + 4 + of_a_weight + 5) * (weights @ values.abs()) + 1e-30
            text = complaint(got[0, head, queries], weights @ values, bound)
            if text:
                return f"head {head}: {text}"
        return ""

    def by(backend: SDPBackend) -> Callable[[], torch.Tensor]:
        def run() -> torch.Tensor:
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(q, k, v, is_causal=causal)

        return run

    side = 8192
    factors = [torch.empty(side, side, device="cuda", dtype=dtype).uniform_(-2, 2) for _ in range(2)]
    seen = (n + 1) / 2 if causal else n
    return Case(
        f"{'bfloat16, ' if narrow else ''}n = {n}, d = {d}{', causal' if causal else ''}",
        "attend_bf16" if narrow else "attend",
        (q, k, v, out, heads, n, d, causal),
        out,
        {name: by(backend) for name, backend in BACKENDS.items()},
        wrong,
        lambda: factors[0] @ factors[1],
        (3 * q.element_size() + 4.0) * heads * n * d,
        4.0 * heads * n * seen * d,
        2.0 * side**3,
    )


def cases(heads: int = 16) -> Iterator[Case]:
    for columns in (1024, 4096, 8192, 16384):
        yield softmax(16384, columns)
    for dtype in (torch.float32, torch.bfloat16):
        for d in (64, 128):
            for n in (1024, 4096, 8192):
                for causal in (False, True):
                    yield attention(heads, n, d, causal, dtype)


def pointer(argument: object) -> object:
    return ctypes.c_void_p(argument.data_ptr()) if isinstance(argument, torch.Tensor) else argument


class Clock:
    """Times a call, with an L2 cache that holds nothing of it."""

    def __init__(self) -> None:
        self.flush = torch.empty(1 << 30, dtype=torch.int8, device="cuda")

    def __call__(self, call: Callable[[], object]) -> float:
        self.flush.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end))

    def median(self, call: Callable[[], object], runs: int = 7) -> float:
        call()
        return statistics.median(self(call) for _ in range(runs))


def interval(values: list[float]) -> tuple[float, float, float]:
    """Returns the median, and the order statistics that hold the true one with a probability of 95 %."""
    ranked = sorted(values)
    off = 0.98 * math.sqrt(len(ranked))
    low, high = math.floor(len(ranked) / 2 - off), math.ceil(len(ranked) / 2 + off)
    return statistics.median(ranked), ranked[max(0, low)], ranked[min(len(ranked) - 1, high)]


def spread(times: list[float]) -> float:
    first, _, third = statistics.quantiles(times, n=4)
    return 50 * (third - first) / statistics.median(times)


def row(
    case: Case,
    kind: str,
    kernel: str,
    verdict: str,
    times: list[float],
    ceiling: float,
    ratio: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> None:
    ms = statistics.median(times)
    numbers = (
        ms,
        spread(times),
        case.bytes / ms / 1e6,
        case.operations / ms / 1e9,
        100 * ceiling / ms,
        *ratio,
        len(times),
        1,
    )
    fields = ",".join(f"{number:.9g}" for number in numbers)
    print(f'attention,"{case.name}",{kind},{kernel},{verdict},{fields}', flush=True)


def time(case: Case, steps: dict[str, Callable[..., None]], clock: Clock) -> bool:
    """Times the steps on a case. Returns true if all are right."""
    ceiling = clock.median(case.ceiling)
    if case.ceiling_operations:
        ceiling *= case.operations / case.ceiling_operations
    tried: dict[str, float] = {}
    for name, call in case.library.items():
        try:
            tried[name] = clock.median(call)
        except RuntimeError:  # this back end does not take the problem
            continue
    print(f"# {case.name}: " + ", ".join(f"{name} {ms:.4f} ms" for name, ms in tried.items()))
    best = min(tried, key=lambda name: tried[name])
    verdict = case.wrong(case.library[best]()) or "right"
    times: dict[str, list[float]] = {"torch": []}
    ratios: dict[str, tuple[float, float, float]] = {}
    verdicts = {}
    arguments = tuple(pointer(argument) for argument in case.arguments)
    for name, step in steps.items():
        mine = functools.partial(step, *arguments)
        case.out.fill_(math.nan)
        mine()
        verdicts[name] = case.wrong(case.out) or "right"
        once = clock(mine)
        pairs = [
            (clock(case.library[best]), clock(mine))
            for _ in range(max(9, min(51, int(300 / (once + tried[best])))))
        ]
        times["torch"] += [library for library, _ in pairs]
        times[name] = [ms for _, ms in pairs]
        ratios[name] = interval([library / ms for library, ms in pairs])
    row(case, "vendor", "torch", verdict, times["torch"], ceiling)
    for name in steps:
        row(case, "step", name, verdicts[name], times[name], ceiling, ratios[name])
    return verdict == "right" and all(text == "right" for text in verdicts.values())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", metavar="BUILD", type=pathlib.Path)
    given = parser.parse_args()
    torch.manual_seed(1)
    torch.cuda.init()
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as scratch:
        source, library = pathlib.Path(scratch, "errors.cpp"), pathlib.Path(scratch, "errors.so")
        source.write_text(ERRORS, encoding="utf-8")
        subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", source, "-o", library], check=True)
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    last: dict[str, dict[str, Callable[..., None]]] = {}
    for step in Repository().steps("attention"):
        path = given.build.resolve() / module("solutions", "attention", step, "gpu")
        loaded = ctypes.CDLL(str(path))
        for entry in ("softmax", "attend", "attend_bf16"):
            if hasattr(loaded, entry):
                function = getattr(loaded, entry)
                function.restype = None
                last[entry] = {step: function}
    print(HEADINGS)
    clock = Clock()
    all_right = True
    for case in cases():
        all_right = time(case, last[case.entry], clock) and all_right
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
