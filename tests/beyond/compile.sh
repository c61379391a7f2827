#!/usr/bin/env bash
# Compiles the kernels of this folder, or those named, by nvcc: for sm_90, or for what a first line such as
# "// Needs: sm_90a" says. They are in no build. Goes on after the first one that does not compile, and then fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

kernels=("$@")
((${#kernels[@]})) || kernels=(tests/beyond/*/[0-9][0-9]_*.cu)

# shellcheck disable=SC2016  # $1 is for the shell that xargs starts
printf '%s\0' "${kernels[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c '
    chapter=$(basename "$(dirname "$1")")
    needs=$(sed -n "1s|^// Needs: sm_||p" "$1")
    arch=${needs:-90}
    nvcc -std=c++20 -gencode=arch=compute_"$arch",code=sm_"$arch" -Icommon -Ireference -Ichapters/"$chapter" -c -o /dev/null "$1" ||
        { printf "%s: does not compile\n" "$1"; exit 1; }
' compile
printf '%s files of kernels compile\n' "${#kernels[@]}"
