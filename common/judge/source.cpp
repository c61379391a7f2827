#include "judge/source.hpp"

#include "error.hpp"
#include "limits.hpp"
#include "observe.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace kata {

bool is_open(const std::filesystem::path& source) {
    std::ifstream file(source);
    for (std::string line; std::getline(file, line);)
        if (line.compare(std::min(line.find_first_not_of(" \t"), line.size()), 13, "kata::open();") == 0)
            return true;
    return false;
}

std::string stated_reason(const std::filesystem::path& source) {
    std::ifstream file(source);
    const std::string mark = "// Rejected: ", gpu_mark = "// On a GPU: ";
    std::string reason;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(mark)) reason = line.substr(mark.size());
        if (line.starts_with(gpu_mark) && keeps_time()) reason = line.substr(gpu_mark.size());
    }
    if (!reason.empty()) return reason;
    throw Error(source.filename().string() + " does not say \"" + mark + "…\": why it must be rejected");
}

std::optional<std::string> stated_test(const std::filesystem::path& source) {
    if (keeps_time()) return std::nullopt;
    std::ifstream file(source);
    const std::string mark = "// Rejected by: ";
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(mark)) return line.substr(mark.size());
    return std::nullopt;
}

std::string stated_need(const std::filesystem::path& source) {
    std::ifstream file(source);
    const std::string mark = "// Needs: ";
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(mark)) return line.substr(mark.size());
    return "";
}

std::optional<std::string> lacking(const std::string& need, const std::string& architecture,
                                   std::size_t shared) {
    if (need.empty()) return std::nullopt;
    const auto comma = std::min(need.find(','), need.size());
    const auto only = need[comma - 1] == 'a';
    const auto kibibytes = comma < need.size() ? std::strtoul(need.c_str() + comma + 1, nullptr, 10) : 0;
    const auto capability = [](const std::string& name) {
        return std::atoi(name.c_str() + name.find('_') + 1);
    };
    const int needed = capability(need), there = architecture.empty() ? 0 : capability(architecture);
    const bool is_able = architecture.empty() ? !only : only ? there == needed : there >= needed;
    if (is_able && shared >= kibibytes * 1024) return std::nullopt;
    return "needs a GPU of compute capability " + std::to_string(needed / 10) + "." +
           std::to_string(needed % 10) + (only ? "" : " or newer") +
           (kibibytes > 0 ? " with " + std::to_string(kibibytes) + " KiB of shared memory for a block" : "");
}

bool can_be_counted(const std::string& need) { return !lacking(need, "", counted_shared_memory); }

std::optional<std::string> lacking(const std::string& need) {
    if (need.empty()) return std::nullopt;
    const auto device = keeps_time() ? device_name() : "";
    return lacking(need, device.substr(std::min(device.rfind("sm_"), device.size())), most_shared_memory());
}

}  // namespace kata
