// Pictures in files: binary PGM (P5, grey) and PPM (P6, colour).
#pragma once
#include <filesystem>
#include <vector>

namespace kata {

struct Picture {
    int width = 0;     ///< pixels
    int height = 0;    ///< pixels
    int channels = 1;  ///< 1 grey, 3 red, green, blue
    /// width * height * channels samples, 0 to 255: row after row from the top, channels interleaved.
    std::vector<unsigned char> pixels;

    bool operator==(const Picture&) const = default;
};

/// Reads the first picture in the file. Samples of any maxval, also those of 16 bits, are scaled to 0 to 255.
/// Throws kata::Error, in one line that names the file, the damage and the remedy.
Picture read_picture(const std::filesystem::path&);

/// Writes P5 for one channel and P6 for three, whatever the file is called. Throws kata::Error as above, also
/// where the picture contradicts itself.
void write_picture(const std::filesystem::path&, const Picture&);

}  // namespace kata
