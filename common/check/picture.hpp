// Picture files: reads PNG, JPEG and binary PGM and PPM, and writes PNG, with stb.
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

/// Reads a picture of at most 100 million pixels with 8 bits per sample. Drops transparency and ignores the
/// orientation of a photo. Throws kata::Error, in one line that names the file, the damage and the remedy.
Picture read_picture(const std::filesystem::path&);

/// Writes a PNG, whatever the file's name. Throws kata::Error as above, also for an inconsistent picture.
void write_picture(const std::filesystem::path&, const Picture&);

}  // namespace kata
