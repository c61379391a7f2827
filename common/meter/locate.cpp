#include "meter/locate.hpp"

#include "process.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <sstream>
#include <vector>

namespace meter {

namespace {

/// Whether the line is the student's own, and neither the back end's nor the library's.
bool is_own(const std::string& path) {
    return path.find("common/simt/") == std::string::npos && !path.starts_with("/usr/");
}

/// The line, and those of the functions that it was inlined into, outwards; only the student's own, if any
/// is.
std::vector<std::string> ask(const simt::Image& image, std::uint32_t offset) {
    char address[32];
    std::snprintf(address, sizeof address, "0x%x", offset);
    std::istringstream text(
        kata::run_program({"addr2line", "-i", "-e", image.path, address}, kata::Errors::dropped).output);
    std::vector<std::string> own;
    std::string outermost = "an unknown line";
    for (std::string path; std::getline(text, path);) {
        path.resize(std::min(path.find(" ("), path.find_last_not_of(" \n") + 1));
        if (path.empty() || path.front() == '?') continue;
        const auto line = path.substr(path.rfind('/') + 1);
        if (is_own(path))
            own.push_back(line);
        else if (own.empty())
            outermost = line;
    }
    if (own.empty()) own.push_back(outermost);
    return own;
}

const std::vector<std::string>& lines_of(const simt::Image& image, std::uint32_t code) {
    static std::map<std::pair<std::string, std::uint32_t>, std::vector<std::string>> known;
    const auto [entry, fresh] = known.try_emplace({image.path, code});
    if (fresh) entry->second = ask(image, code - 1);  // a return address is that of the next instruction
    return entry->second;
}

}  // namespace

std::string line_of(const simt::Image& image, std::uint32_t code) { return lines_of(image, code).front(); }

std::string callers_of(const simt::Image& image, std::uint32_t code) {
    std::string text;
    const auto& lines = lines_of(image, code);
    for (std::size_t i = 1; i < lines.size(); ++i) text += ", called in " + lines[i];
    return text;
}

}  // namespace meter
