// Camera paths of key frames, and their files.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// Where an orbiting camera is: `distance` (> 0) from its target, in a direction of two angles in radians, `azimuth`
/// about z from the x axis and `elevation` over the xy plane.
struct CameraView {
  double azimuth = 0, elevation = 0, distance = 1;
  Vec3d target{};
};

struct KeyFrame {
  double time_s = 0;
  CameraView view;
};

/// A camera that moves smoothly through key frames: a monotone cubic in time for each coordinate, so that no coordinate
/// leaves the range of the two key frames around it, and equal key frames hold the camera still. Azimuths go the short
/// way round, and the distance changes by factors.
class CameraPath {
 public:
  static constexpr double least_interval_s = 1e-3;  ///< between key frames

  /// Throws UsageError unless there is a key frame, and each is least_interval_s or more after the one before.
  explicit CameraPath(std::vector<KeyFrame> key_frames);

  const std::vector<KeyFrame>& key_frames() const { return key_frames_; }
  double end_s() const { return key_frames_.back().time_s; }
  /// The first view before the first key frame, the last view after the last one. The azimuth is any equal angle.
  CameraView at(double time_s) const;

 private:
  struct Knot {
    double value, slope;  // per second
  };
  using Curve = std::vector<Knot>;

  double value(const Curve& curve, std::size_t segment, double time_s) const;
  void set_slopes(Curve& curve) const;

  std::vector<KeyFrame> key_frames_;
  std::array<Curve, 6> curves_;  // azimuth, elevation, log of the distance, target
};

/// Reads a path: one key frame per line, TIME AZIMUTH ELEVATION DISTANCE X Y Z, in seconds, degrees and units of
/// length; X Y Z is the target. `#` starts a comment. Throws UsageError that starts with "NAME:LINE: ".
CameraPath parse_camera_path(std::string_view text, const std::string& name);

/// The same from a file. Throws std::runtime_error as read_text() does.
CameraPath read_camera_path(const std::string& file);

/// Returns the text that parse_camera_path() reads back: times to 10 digits, the rest to 7.
std::string camera_path_text(std::span<const KeyFrame> key_frames);

}  // namespace orrery
