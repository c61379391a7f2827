#include "simt/matrices.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace simt {

void multiply(const std::array<const Product*, 32>& lanes) {
    float a[16][16], b[16][16], c[16][16];
    const int k = lanes[0]->k, width = lanes[0]->width;
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 16 * k / 32; ++i) {
            const auto at = place_of(lane, i, width);
            a[at.row][at.column] = lanes[lane]->a[i];
            const auto of_b = place_of_b(lane, i, width);
            b[of_b.row][of_b.column] = lanes[lane]->b[i];
        }
        for (int i = 0; i < 8; ++i) {
            const auto at = place_of(lane, i, 2);
            c[at.row][at.column] = lanes[lane]->c[i];
        }
    }
    for (auto row = 0; row < 16; ++row)
        for (auto column = 0; column < 16; ++column)
            for (int i = 0; i < k; ++i) c[row][column] = std::fma(a[row][i], b[column][i], c[row][column]);
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 8; ++i) {
            const auto at = place_of(lane, i, 2);
            lanes[lane]->d[i] = c[at.row][at.column];
        }
}

std::string unlike(const std::array<const MatrixInMemory*, 32>& lanes) {
    const auto& first = *lanes[0];
    const auto lane_0_and = [](int lane) { return "lanes 0 and " + std::to_string(lane) + " "; };
    for (int lane = 1; lane < 32; ++lane) {
        const auto& other = *lanes[lane];
        if (other.address != first.address)
            return lane_0_and(lane) +
                   "give different addresses: the warp takes one matrix, and each lane gives the address of "
                   "its first element";
        if (other.pitch != first.pitch)
            return lane_0_and(lane) + "give different leading dimensions, " + std::to_string(first.pitch) +
                   " and " + std::to_string(other.pitch) + ": the warp takes one matrix";
        if (other.by_columns != first.by_columns)
            return lane_0_and(lane) + "give different layouts: the warp takes one matrix";
    }
    constexpr unsigned of_address = 32, of_pitch = 16;  // bytes
    if (const auto beyond = reinterpret_cast<std::uintptr_t>(first.address) % of_address; beyond != 0)
        return "the address of the first element is " + std::to_string(beyond) +
               " bytes beyond a multiple of " + std::to_string(of_address) +
               ": tensor cores take only multiples";
    if (first.pitch * first.element % of_pitch != 0)
        return "the leading dimension, " + std::to_string(first.pitch) + ", is not a multiple of " +
               std::to_string(of_pitch / first.element) + " elements, which are " + std::to_string(of_pitch) +
               " bytes";
    return "";
}

}  // namespace simt
