#pragma once

#include <array>
#include <cstddef>
#include <glm/glm.hpp>
#include <optional>

#include "render/drawn_bodies.h"
#include "render/gl/gl_objects.h"

namespace orrery::render {

/// One body of the drawn buffer.
struct BodyState {
  int index = -1;
  glm::vec4 position{0.0f};  ///< mass in w
  glm::vec4 velocity{0.0f};
};

/// Reads one body back from the drawn buffer, some frames later and without waiting for the GPU.
class BodyReadback {
 public:
  BodyReadback();
  BodyReadback(const BodyReadback&) = delete;
  BodyReadback& operator=(const BodyReadback&) = delete;
  ~BodyReadback();

  /// Copies the body as it is after all GL commands until now; once per frame. While `capacity` copies are in flight,
  /// makes no other.
  void request(const DrawnBodies& bodies, int index);
  /// The newest copy that has arrived since the last call; none if none has.
  std::optional<BodyState> poll();
  /// Drops the copies in flight.
  void cancel();

  /// The body as it is now. Waits for the GPU.
  static BodyState read(const DrawnBodies& bodies, int index);

  static constexpr int capacity = 4;

 private:
  struct Slot {
    void* fence = nullptr;  // of a copy in flight
    int index = -1;
  };

  void drop_oldest();

  GlObject<delete_buffer> copies_;
  const std::byte* mapped_ = nullptr;  // where copies arrive; null: the driver has no such memory
  std::array<Slot, capacity> slots_;
  int first_ = 0, pending_ = 0;
};

}  // namespace orrery::render
