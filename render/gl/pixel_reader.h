#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "render/gl/fence.h"
#include "render/gl/gl_objects.h"

namespace orrery::render {

/// Copies pictures from the GPU without waiting for it: up to `most` copies are in flight while later pictures are
/// drawn. Needs the context it was made in.
class PixelReader {
 public:
  static constexpr std::size_t most = 2;

  /// Lengths in pixels. Throws std::runtime_error if OpenGL has no memory.
  PixelReader(int width, int height);

  std::size_t in_flight() const noexcept { return in_flight_; }
  /// Starts to copy a framebuffer's picture. Needs in_flight() < most.
  void begin(unsigned framebuffer);
  /// Waits for the oldest copy. Fills `rgba`: 4 bytes per pixel, bottom row first. Needs in_flight() > 0.
  void take(std::span<std::uint8_t> rgba);

 private:
  struct Copy {
    GlObject<delete_buffer> buffer;
    Fence done;
  };

  int width_, height_;
  std::array<Copy, most> copies_;
  std::size_t oldest_ = 0, in_flight_ = 0;
};

}  // namespace orrery::render
