// The description of a GPU, as measured by describe.cu.
#pragma once
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

namespace estimate {

/// The rows of a description. Latencies are in cycles, rates per cycle and multiprocessor, unless describe.cu
/// says otherwise.
struct Device {
    struct Row {
        std::string quantity;
        double x = 0, y = 0, value = 0;
    };
    std::string name;
    std::vector<Row> rows;

    /// Returns the value of the first row. Throws kata::Error if there is none.
    double at(const std::string& quantity) const;
    /// Returns the largest value measured.
    double most(const std::string& quantity) const;
    /// Interpolates linearly between the rows of neighboring x; beyond them returns the value of the last.
    double at(const std::string& quantity, double x) const;
    double most(const std::string& quantity, double x) const;  ///< the same if an x has several rows
};

/// Throws kata::Error for a line that is not a row.
Device read_device(std::istream&);
Device read_device(const std::filesystem::path&);

}  // namespace estimate
