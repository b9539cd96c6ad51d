// Copies of buffers and pictures from the GPU, without waiting for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "render/gl/gl.h"
#include "render/gl/gl_objects.h"

namespace orrery::render {

/// A mark in the GL commands that tells when the GPU has executed those before it. Needs the context in which it was
/// made.
class Fence {
 public:
  Fence() = default;
  Fence(Fence&& other) noexcept : sync_{std::exchange(other.sync_, nullptr)} {}
  Fence& operator=(Fence&& other) noexcept {
    std::swap(sync_, other.sync_);
    return *this;
  }
  ~Fence() { clear(); }

  /// Marks all commands until now. Needs !is_set().
  void set();
  bool is_set() const noexcept { return sync_ != nullptr; }
  void clear() noexcept;

  /// Returns whether the GPU has reached the mark. `flush`: also sends all pending commands to the GPU. Needs is_set().
  bool passed(bool flush) const;
  /// Waits until the GPU has reached the mark. Needs is_set().
  void wait() const;

 private:
  void* sync_ = nullptr;  // GLsync
};

/// Copies parts of a buffer of vec4 to host memory without waiting for the GPU: one copy at a time.
class BufferReadback {
 public:
  /// A range of the buffer, in vec4.
  struct Part {
    std::size_t first, count;
  };

  bool in_flight() const noexcept { return fence_.is_set(); }
  /// Starts to copy the parts, one after the other, in their state after all GL commands until now. Needs !in_flight().
  /// Throws std::runtime_error if memory is short.
  void request(unsigned buffer, std::span<const Part> parts);
  /// Returns the copy once it has arrived, and ends in_flight(); returns nothing before. `wait`: blocks until the GPU
  /// has made the copy. Needs in_flight().
  std::optional<std::vector<glm::vec4>> poll(bool wait);
  /// Discards the copy in flight.
  void cancel() { fence_.clear(); }

 private:
  GlObject<delete_buffer> copy_;
  std::size_t capacity_ = 0, count_ = 0;  // in vec4
  Fence fence_;                           // fence of the copy in flight
};

/// Copies pictures from the GPU without waiting for it: up to `most` copies are in flight while later pictures are
/// drawn. Needs the context in which it was made.
class PixelReader {
 public:
  static constexpr std::size_t most = 2;

  /// Makes a reader for pictures of this size in pixels. Throws std::runtime_error if OpenGL has no memory.
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
