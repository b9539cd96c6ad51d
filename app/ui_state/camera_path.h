// Camera paths made of key frames, and their files.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// View of an orbiting camera. It is at `distance` (> 0) from its target, in the direction of two angles in radians:
/// `azimuth` about z from the x axis, and `elevation` over the xy plane.
struct CameraView {
  double azimuth = 0, elevation = 0, distance = 1;
  Vec3d target{};
};

struct KeyFrame {
  double time_s = 0;
  CameraView view;
};

/// A smooth camera motion through key frames. Each coordinate is a monotone cubic in time: it stays in the range of the
/// two key frames around it, and equal key frames hold the camera still. Azimuths take the shorter way round; the
/// distance is interpolated in its logarithm.
class CameraPath {
 public:
  static constexpr double least_interval_s = 1e-3;  ///< minimum time between key frames

  /// Throws UsageError if there is no key frame, or two are less than least_interval_s apart.
  explicit CameraPath(std::vector<KeyFrame> key_frames);

  const std::vector<KeyFrame>& key_frames() const { return key_frames_; }
  double end_s() const { return key_frames_.back().time_s; }
  /// Returns the view at a time: the first view before the first key frame, the last view after the last one. The
  /// azimuth is not reduced to one turn.
  CameraView at(double time_s) const;

 private:
  struct Knot {
    double value, slope;  // per second
  };
  using Curve = std::vector<Knot>;

  double value(const Curve& curve, std::size_t segment, double time_s) const;
  void set_slopes(Curve& curve) const;

  std::vector<KeyFrame> key_frames_;
  std::array<Curve, 6> curves_;  // azimuth, elevation, log of the distance, x, y and z of the target
};

/// Parses a path with one key frame per line: TIME AZIMUTH ELEVATION DISTANCE X Y Z, in seconds, degrees and units of
/// length. X Y Z is the target. `#` starts a comment. Throws UsageError that starts with "NAME:LINE: ".
CameraPath parse_camera_path(std::string_view text, const std::string& name);

/// Reads a path from a file. Throws std::runtime_error as read_text() does.
CameraPath read_camera_path(const std::string& file);

/// Returns a text that parse_camera_path() reads back: times with 10 digits, other numbers with 7.
std::string camera_path_text(std::span<const KeyFrame> key_frames);

}  // namespace orrery
