#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

/// The size of a frame in the video: even, as H.264 with 4:2:0 needs it.
constexpr int even_size(int size) {
  return size + size % 2;
}

/// Writes a frame as video players expect it: planar YCbCr 4:2:0 of HD video (ITU-R BT.709, limited range), top row
/// first. A width or height that is odd grows by a copy of the last column or row.
/// `rgba`: 4 bytes for each of width x height pixels, bottom row first, as FilmFrame holds them. `video` is given the
/// size that it needs: 3/2 bytes per pixel of the even size.
void write_video_frame(std::span<const std::uint8_t> rgba, int width, int height, std::vector<std::uint8_t>& video);

}  // namespace orrery
