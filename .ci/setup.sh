# shellcheck shell=bash
# The requirements of the build, and how to install them. ../kata sources this to find Python, and then runs it:
#
#   bash .ci/setup.sh             installs what is missing, shows each command, and reinstalls nothing that is present
#   bash .ci/setup.sh engine      the same for the engine alone, which ./kata check runs
#   bash .ci/setup.sh compiler    prints the compiler of the build

fail() {  # fail STATUS MESSAGE: 1 something failed, 3 something is not installed
    printf 'kata: %s\n' "$2" >&2
    exit "$1"
}

# Prints the path of a suitable Python: the first one in PATH may be too old.
find_python() {
    local python
    for python in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9; do
        "$python" -c 'import sys; sys.exit(1) if sys.version_info < (3, 9) else print(sys.executable)' 2>/dev/null && return
    done
    return 1
}

# Prints the compiler of the build: g++ if there is one, because its instrumentation feeds the meter. CXX overrides it.
compiler() {
    local cxx
    for cxx in ${CXX:+"$CXX"} g++ g++-14 g++-13 g++-12 c++ clang++; do
        # shellcheck disable=SC2086  # CXX may be two words, as in "ccache g++"
        if printf '#include <span>\nenum class E { a };\nusing enum E;\nint main() { return std::span<int>().size(); }\n' |
            $cxx -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; then
            printf '%s\n' "$cxx"
            return
        fi
    done
    return 1
}

at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }  # at_least WANTED HAVE

has_boost() {
    local cxx brew scratch status=0
    cxx=$(compiler) || return 1
    brew=$(brew --prefix 2>/dev/null || true)
    scratch=$(mktemp -d)
    # shellcheck disable=SC2086
    printf '#include <boost/context/detail/fcontext.hpp>\nint main() {}\n' |
        $cxx -std=c++20 ${brew:+"-I$brew/include" "-L$brew/lib"} -x c++ - -lboost_context -o "$scratch/a" 2>/dev/null || status=1
    rm -r "$scratch"
    return $status
}

gpu_here() { command -v nvcc && command -v nvidia-smi && nvidia-smi -L; } >/dev/null 2>&1

missing() {  # missing [engine]: prints a word for each missing requirement
    compiler >/dev/null || echo compiler
    find_python >/dev/null || echo python3
    at_least 1.1 "$(meson --version 2>/dev/null || echo 0)" || echo meson
    command -v ninja >/dev/null || echo ninja
    if [[ ${1-} != engine ]]; then
        command -v pkg-config >/dev/null || echo pkg-config
        pkg-config --atleast-version=3.4 catch2 2>/dev/null || echo catch2
    fi
    has_boost || echo boost
    command -v addr2line >/dev/null || echo addr2line
}

describe() {  # describe WORD...: for a system with an unknown package manager
    local word
    for word in "$@"; do
        case $word in
            compiler) echo '  a C++20 compiler: g++ 12 or newer, or clang (without the meter)' ;;
            python3)
                echo '  Python 3.9 or newer;' \
                    "found: $(command -v python3 || echo none) $(python3 --version 2>/dev/null | cut -d' ' -f2)"
                ;;
            meson)
                echo '  Meson 1.1 or newer (from PyPI where the system has only an older one);' \
                    "found: $(command -v meson || echo none) $(meson --version 2>/dev/null)"
                ;;
            ninja) echo '  Ninja' ;;
            pkg-config) echo '  pkg-config' ;;
            catch2) echo '  Catch2 3.4 or newer' ;;
            boost) echo '  Boost.Context, headers and library' ;;
            addr2line) echo '  addr2line, of GNU binutils' ;;
        esac
    done
}

# No package repairs this: a Meson that is first in PATH and too old or broken, followed by one that would do.
fail_if_meson_is_shadowed() {
    local first other
    first=$(command -v meson) || return 0
    at_least 1.1 "$(meson --version 2>/dev/null || echo 0)" && return 0
    while IFS= read -r other; do
        if [[ $other != "$first" ]] && at_least 1.1 "$("$other" --version 2>/dev/null || echo 0)"; then
            fail 3 "$first comes first in PATH, and $("$first" --version >/dev/null 2>&1 && echo "is $("$first" --version)" || echo 'does not run'); needed: Meson 1.1 or newer, as $other is; put $(dirname "$other") first in PATH, or remove the former"
        fi
    done < <(
        type -ap meson
        echo /usr/bin/meson
    )
}

# Prints the package system: the release's code name if there is apt-get, otherwise dnf or brew, otherwise nothing.
system() {
    if command -v apt-get >/dev/null; then
        # shellcheck disable=SC1091
        (. /etc/os-release && echo "${UBUNTU_CODENAME:-${VERSION_CODENAME:-apt}}")
    elif command -v dnf >/dev/null; then
        echo dnf
    elif command -v brew >/dev/null; then
        echo brew
    fi
}

packages() {  # packages SYSTEM WORD...: the names of the packages there; systems other than dnf and brew are Debian's and Ubuntu's
    local system=$1 word
    shift
    for word in "$@"; do
        case $system/$word in
            bookworm/meson) echo meson/bookworm-backports ;;
            noble/catch2) echo catch2 ;;  # 3.4; libcatch2-dev came later
            dnf/compiler) echo gcc-c++ ;;
            dnf/pkg-config) echo pkgconf-pkg-config ;;
            dnf/catch2) echo catch-devel ;;
            dnf/boost) echo boost-devel ;;
            brew/compiler) ;;  # Apple's own: xcode-select --install
            brew/python3) echo python ;;
            brew/pkg-config) echo pkgconf ;;
            brew/ninja | brew/catch2 | brew/boost) echo "$word" ;;
            */compiler) echo g++ ;;
            */ninja) echo ninja-build ;;
            */catch2) echo libcatch2-dev ;;
            */boost) echo libboost-context-dev ;;
            */addr2line) echo binutils ;;
            *) echo "$word" ;;
        esac
    done
}

# shellcheck disable=SC2016  # apt-get's own variables
apt_releases() { apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages'; }

install_commands() {  # install_commands SYSTEM PACKAGE...: one command per line
    local system=$1 mirror
    shift
    case $system in
        dnf) echo "dnf install -y $*" ;;
        brew) echo "brew install $*" ;;
        *)
            # Debian 12 has Meson 1.0 and Catch2 2; its backports, at the same mirror, have what we need.
            if [[ $system == bookworm && $* =~ (meson|catch2) ]] && ! apt_releases | grep -q '^bookworm-backports '; then
                mirror=$(apt_releases | sed -n 's/^bookworm //p' | head -n 1)
                printf "echo 'deb %s bookworm-backports main' >/etc/apt/sources.list.d/bookworm-backports.list\n" \
                    "${mirror:-http://deb.debian.org/debian}"
            fi
            echo 'apt-get update -q'
            echo "apt-get install -q -y --no-install-recommends $*"
            ;;
    esac
}

setup() {
    local words system names commands='' command
    words=$(missing "$@" | tr '\n' ' ')
    words=${words% }
    [[ -n $words ]] || return 0
    fail_if_meson_is_shadowed
    # With a GPU the CPU back end is optional. A library that only an administrator can install is not required.
    if [[ $words == boost ]] && gpu_here; then
        echo 'No Boost.Context: only the GPU back end is built.'
        return
    fi
    # Names and words contain no spaces.
    # shellcheck disable=SC2046,SC2086
    {
        system=$(system)
        names=$([[ -z $system ]] || packages "$system" $words)
        [[ -z $names ]] || commands=$(install_commands "$system" $names)
        if [[ -z $commands ]] || { [[ $system != brew ]] && (($(id -u) != 0)); }; then
            if [[ $words == catch2 && -f $(dirname "${BASH_SOURCE[0]}")/../subprojects/catch2.wrap ]]; then
                echo 'No Catch2 3.4 is installed: Meson downloads and builds one, which takes some minutes.'
                return
            fi
            [[ -z $commands ]] || commands=$'\n'"As root:"$'\n'"$commands"
            fail 3 "not installed:"$'\n'"$(describe $words)$commands"
        fi
        while IFS= read -r command; do
            printf '\n$ %s\n' "$command"
            DEBIAN_FRONTEND=noninteractive sh -c "$command" </dev/null ||
                fail 3 "that failed; not installed:"$'\n'"$(describe $words)"
        done <<<"$commands"
        hash -r
        fail_if_meson_is_shadowed
        words=$(missing "$@" | grep -v '^catch2$' || true)
        [[ -z $words ]] || fail 3 "what this system offers is too old or incomplete; needed:"$'\n'"$(describe $words)"
    }
}

# Optional requirements, whose absence is reported: without nvcc, only clang knows which host and device code nvcc refuses;
# without bubblewrap, nothing is graded; without stb, no picture is read.
setup_optional() {
    local system command wanted=()
    system=$(system)
    [[ -n $system && $system != brew ]] && (($(id -u) == 0)) || return 0
    command -v clang++ >/dev/null || wanted+=(clang)
    command -v bwrap >/dev/null || wanted+=(bubblewrap)
    if [[ ! -f /usr/include/stb/stb_image.h ]]; then
        if [[ $system == dnf ]]; then wanted+=(stb-devel); else wanted+=(libstb-dev); fi
    fi
    ((${#wanted[@]})) || return 0
    while IFS= read -r command; do
        printf '\n$ %s\n' "$command"
        DEBIAN_FRONTEND=noninteractive sh -c "$command" </dev/null || return 0
    done <<<"$(install_commands "$system" "${wanted[@]}")"
}

if [[ $0 == "${BASH_SOURCE[0]}" ]]; then
    set -euo pipefail
    case ${1-} in
        compiler) compiler ;;
        engine) setup engine ;;
        '')
            setup
            setup_optional
            ;;
        *) fail 2 "setup.sh knows 'compiler' and 'engine', not '$1'" ;;
    esac
fi
