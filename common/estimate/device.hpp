// What is known of a GPU that is not here: what describe.cu measured on one.
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

    /// The value of the only row, or of the first. Throws kata::Error where there is none.
    double at(const std::string& quantity) const;
    /// The largest value that was measured.
    double most(const std::string& quantity) const;
    /// Between the rows of neighbouring x on a straight line; outside of them the value of the last.
    double at(const std::string& quantity, double x) const;
    double most(const std::string& quantity, double x) const;  ///< where an x has several rows
};

/// Throws kata::Error where a line is no row.
Device read_device(std::istream&);
Device read_device(const std::filesystem::path&);

}  // namespace estimate
