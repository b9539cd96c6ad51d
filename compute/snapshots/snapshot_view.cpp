#include "compute/snapshots/snapshot_view.h"

#include <algorithm>
#include <cstddef>

#include "compute/core/joint_rows.h"
#include "compute/core/low_words.h"

namespace orrery {
namespace {

/// Without low words: scaled floats have others.
class ConvertedBodies final : public BodySource {
 public:
  ConvertedBodies(BodySource& of, const UnitScale& scale)
      : BodySource{of.count(), Digits::single}, of_{of}, scale_{scale} {}

  std::optional<BodyBounds> bounds() override {
    std::optional<BodyBounds> bounds = of_.bounds();
    if (!bounds) return bounds;
    const Vec4 least = scale_.of_position({bounds->farthest, 0, 0, bounds->least_mass});
    bounds->farthest = least.x;
    bounds->least_mass = least.w;
    bounds->greatest_mass = scale_.of_position({0, 0, 0, bounds->greatest_mass}).w;
    bounds->fastest = scale_.of_velocity({bounds->fastest, 0, 0, 0}).x;
    return bounds;
  }
  bool write_jointly(const JointRows& rows) override {
    if (rows.scale) return false;  // after one conversion, numbers are rounded
    JointRows scaled = rows;
    scaled.scale = scale_;
    return of_.write_jointly(scaled);
  }

 protected:
  Piece piece_with(std::size_t body) override {
    constexpr std::size_t most = 4096;
    const std::size_t first = body / most * most, last = std::min(first + most, count());
    piece_.positions.clear();
    piece_.velocities.clear();
    for (std::size_t i = first; i < last; ++i) {
      piece_.positions.push_back(scale_.of_position(of_.position(i)));
      piece_.velocities.push_back(scale_.of_velocity(of_.velocity(i)));
    }
    return piece_of(piece_, first);
  }

 private:
  BodySource& of_;
  const UnitScale scale_;
  Bodies piece_;
};

}  // namespace

Vec3d SnapshotView::position(std::size_t body) const {
  const bool low = bodies->digits() == Digits::compensated;
  const Vec3d origin = frame.origin_at(time);
  const Vec3d p = joined<double>(bodies->position(body), low ? bodies->position_low(body) : Vec4{});
  return {origin.x + p.x, origin.y + p.y, origin.z + p.z};
}

Vec3d SnapshotView::velocity(std::size_t body) const {
  const bool low = bodies->digits() == Digits::compensated;
  const Vec3d v = joined<double>(bodies->velocity(body), low ? bodies->velocity_low(body) : Vec4{});
  return {frame.velocity.x + v.x, frame.velocity.y + v.y, frame.velocity.z + v.z};
}

SnapshotView view_of(const Snapshot& snapshot) {
  return {.bodies = std::make_unique<HeldBodies>(snapshot.bodies),
          .properties = snapshot.properties,
          .time = snapshot.time,
          .softening = snapshot.softening,
          .units = snapshot.units,
          .units_assumed = snapshot.units_assumed,
          .frame = snapshot.frame};
}

ConvertedSnapshot::ConvertedSnapshot(const SnapshotView& of, const UnitScale& scale, const Units& to)
    : properties_{of.properties},
      view_{.bodies = std::make_unique<ConvertedBodies>(*of.bodies, scale),
            .properties = properties_,
            .time = of.time * scale.time,
            .softening = static_cast<float>(of.softening * scale.length),
            .units = to,
            .units_assumed = of.units_assumed,
            .frame = scale.of_frame(of.frame)} {
  scale.apply_to(properties_);
}

}  // namespace orrery
