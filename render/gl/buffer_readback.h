#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <optional>
#include <span>
#include <vector>

#include "render/gl/fence.h"
#include "render/gl/gl_objects.h"

namespace orrery::render {

/// Copies parts of a buffer of vec4 to host memory without waiting for the GPU: one copy at a time.
class BufferReadback {
 public:
  /// In vec4.
  struct Part {
    std::size_t first, count;
  };

  bool in_flight() const noexcept { return fence_.is_set(); }
  /// Copies the parts, one behind the other, as they are after all GL commands until now. Needs !in_flight(). Throws
  /// std::runtime_error if the memory is not enough.
  void request(unsigned buffer, std::span<const Part> parts);
  /// The copy once it has arrived, then in_flight() ends; none before. `wait`: waits for the GPU. Needs in_flight().
  std::optional<std::vector<glm::vec4>> poll(bool wait);
  /// Drops the copy in flight.
  void cancel() { fence_.clear(); }

 private:
  GlObject<delete_buffer> copy_;
  std::size_t capacity_ = 0, count_ = 0;  // in vec4
  Fence fence_;                           // of the copy in flight
};

}  // namespace orrery::render
