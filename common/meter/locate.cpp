#include "meter/locate.hpp"

#include "process.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <sstream>

namespace meter {

namespace {

/// Whether the line is the student's own, and not the back end's.
bool is_own(const std::string& path) { return path.find("common/simt/") == std::string::npos; }

std::string ask(const simt::Image& image, std::uint32_t offset) {
    char address[32];
    std::snprintf(address, sizeof address, "0x%x", offset);
    std::istringstream lines(
        kata::run_program({"addr2line", "-i", "-e", image.path, address}, kata::Errors::dropped).output);
    std::string answer;
    // From the innermost of the functions that were inlined outwards, until it is the student's own.
    for (std::string line; std::getline(lines, line);)
        if (answer.empty() || !is_own(answer)) answer = line;
    answer.resize(answer.find_last_not_of(" \n") + 1);
    answer.erase(0, answer.rfind('/') + 1);
    if (const auto extra = answer.find(" ("); extra != std::string::npos) answer.resize(extra);
    if (answer.empty() || answer.front() == '?') return "an unknown line";
    return answer;
}

}  // namespace

std::string line_of(const simt::Image& image, std::uint32_t code) {
    static std::map<std::pair<std::string, std::uint32_t>, std::string> known;
    const auto [entry, fresh] = known.try_emplace({image.path, code});
    if (fresh) entry->second = ask(image, code - 1);  // a return address is that of the next instruction
    return entry->second;
}

}  // namespace meter
