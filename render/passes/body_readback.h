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

/// One body of the drawn buffer.
struct BodyState {
  int index = -1;
  glm::vec4 position{0.0f};  ///< mass in w
  glm::vec4 velocity{0.0f};
};

/// Some bodies at one time.
struct BodySample {
  double time = 0;                ///< as the caller gave it
  std::vector<BodyState> bodies;  ///< in the order of the request
};

/// Reads a few bodies back from the drawn buffer, some frames later and without waiting for the GPU.
class BodyReadback {
 public:
  /// Reads at most `most` >= 1 bodies at once. Throws std::runtime_error if the memory is not enough.
  explicit BodyReadback(int most);

  /// Copies the bodies with these indices, of the drawn ones, as they are after all GL commands until now; once per
  /// frame. While `capacity` copies are in flight, makes no other and returns false.
  bool request(const DrawnBodies& bodies, std::span<const int> indices, double time);
  /// The newest copy that has arrived since the last call; none if none has.
  std::optional<BodySample> poll();
  /// Drops the copies in flight.
  void cancel();

  /// The bodies as they are now. Drops the copies in flight, and waits for the GPU.
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
