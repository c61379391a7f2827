#include "simt/matrices.hpp"

#include <cmath>

namespace simt {

void multiply(const Product* const (&lanes)[32]) {
    float a[16][16], b[16][16], c[16][16];
    const int k = lanes[0]->k, width = lanes[0]->width;
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 16 * k / 32; ++i) {
            const auto at = place_of(lane, i, width);
            a[at.row][at.column] = lanes[lane]->a[i];
            b[at.row][at.column] = lanes[lane]->b[i];
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

}  // namespace simt
