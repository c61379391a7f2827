#include "estimate/device.hpp"

#include "error.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace estimate {

namespace {

std::vector<Device::Row> rows_of(const Device& device, const std::string& quantity) {
    std::vector<Device::Row> rows;
    std::copy_if(device.rows.begin(), device.rows.end(), std::back_inserter(rows),
                 [&](const auto& row) { return row.quantity == quantity; });
    if (rows.empty())
        throw kata::Error("there is no \"" + quantity + "\" in the description of " + device.name);
    return rows;
}

/// Interpolates linearly between neighbors; beyond them returns the nearest.
double between(const std::map<double, double>& values, double x) {
    const auto above = values.lower_bound(x);
    if (above == values.end()) return values.rbegin()->second;
    if (above == values.begin() || above->first == x) return above->second;
    const auto below = std::prev(above);
    return below->second +
           (above->second - below->second) * (x - below->first) / (above->first - below->first);
}

}  // namespace

double Device::at(const std::string& quantity) const { return rows_of(*this, quantity).front().value; }

double Device::most(const std::string& quantity) const {
    double most = 0;
    for (const auto& row : rows_of(*this, quantity)) most = std::max(most, row.value);
    return most;
}

double Device::at(const std::string& quantity, double x) const {
    std::map<double, double> values;
    for (const auto& row : rows_of(*this, quantity)) values.emplace(row.x, row.value);
    return between(values, x);
}

double Device::most(const std::string& quantity, double x) const {
    std::map<double, double> values;
    for (const auto& row : rows_of(*this, quantity)) {
        auto& most = values[row.x];
        most = std::max(most, row.value);
    }
    return between(values, x);
}

Device read_device(std::istream& in) {
    Device device;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line.starts_with("quantity,")) continue;
        if (line.starts_with('#')) {
            device.name = line.substr(std::min<std::size_t>(2, line.size()));
            device.name = device.name.substr(0, device.name.find(','));
            continue;
        }
        std::istringstream fields(line);
        Device::Row row;
        char comma = 0;
        if (!std::getline(fields, row.quantity, ',') || !(fields >> row.x >> comma) || comma != ',' ||
            !(fields >> row.y >> comma) || comma != ',' || !(fields >> row.value))
            throw kata::Error("no row of a description: \"" + line + "\"");
        device.rows.push_back(row);
    }
    return device;
}

Device read_device(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw kata::Error("cannot read " + path.string());
    return read_device(file);
}

}  // namespace estimate
