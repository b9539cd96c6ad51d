#pragma once

#include <memory>
#include <optional>

#include "compute/core/body_source.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// A snapshot to be written. Its bodies need not be in the memory of this process.
struct SnapshotView {
  std::unique_ptr<BodySource> bodies;  ///< never null
  const BodyProperties& properties;    ///< must outlive this
  // As in Snapshot.
  double time = 0;
  float softening = 0;
  std::optional<Units> units{};
  bool units_assumed = false;
  Frame frame{};

  /// A body's coordinates and velocity in the file, in double, where the frame is moved.
  Vec3d position(std::size_t body) const;
  Vec3d velocity(std::size_t body) const;
};

/// `snapshot` must outlive this.
SnapshotView view_of(const Snapshot& snapshot);

/// A snapshot whose numbers are in other units as they are read.
class ConvertedSnapshot {
 public:
  /// To these units. `of` must outlive this, and so must what it refers to.
  ConvertedSnapshot(const SnapshotView& of, const UnitScale& scale, const Units& to);
  const SnapshotView& view() const { return view_; }

 private:
  BodyProperties properties_;
  SnapshotView view_;
};

}  // namespace orrery
