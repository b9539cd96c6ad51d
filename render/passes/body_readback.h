#pragma once

#include <array>
#include <glm/glm.hpp>
#include <optional>
#include <span>
#include <vector>

#include "render/appearance.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"
#include "render/gl/readback.h"

namespace orrery::render {

/// A body in the drawn buffer.
struct BodyState {
  int index = -1;
  glm::vec4 position{0.0f};  ///< mass in w
  glm::vec4 velocity{0.0f};
};

/// Some bodies at one time.
struct BodySample {
  double time = 0;                ///< as passed to request()
  std::vector<BodyState> bodies;  ///< in the order of the request
};

/// Reads a few bodies back from the drawn buffer, without waiting for the GPU. They arrive some frames later.
class BodyReadback {
 public:
  /// Reads at most `most` >= 1 bodies at once. Throws std::runtime_error if memory is short.
  explicit BodyReadback(int most);

  /// Starts to copy the drawn bodies with these indices, in their state after all GL commands until now. Call once per
  /// frame. Returns false without a copy if there are no indices, or while `capacity` copies are in flight.
  bool request(const DrawnBodies& bodies, std::span<const int> indices, double time);
  /// Returns the newest copy that has arrived since the last call, if any.
  std::optional<BodySample> poll();
  /// Discards the copies in flight.
  void cancel();

  /// Returns the current bodies. Discards the copies in flight, and waits for the GPU.
  BodySample read(const DrawnBodies& bodies, std::span<const int> indices, double time);

  static constexpr int capacity = 4;

 private:
  struct Slot {
    Fence fence;  // fence of a copy in flight
    double time = 0;
    std::vector<int> indices;
  };

  void gather(const DrawnBodies& bodies, std::span<const int> indices, int slot);
  BodySample taken(int slot) const;
  void drop_oldest();

  const int most_;
  Program program_;
  Buffer indices_;
  GlObject<delete_buffer> copies_;  // `most_` positions and velocities for each slot
  const glm::vec4* mapped_ = nullptr;
  std::array<Slot, capacity> slots_;
  int first_ = 0, pending_ = 0;
};

}  // namespace orrery::render
