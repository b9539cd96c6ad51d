#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/camera_path/camera_path.h"

namespace orrery {

/// Reads a path: one key frame per line, TIME AZIMUTH ELEVATION DISTANCE X Y Z, in seconds, degrees and units of
/// length; X Y Z is the target. `#` starts a comment. Throws UsageError that starts with "NAME:LINE: ".
CameraPath parse_camera_path(std::string_view text, const std::string& name);

/// The same from a file. Throws std::runtime_error as read_text() does.
CameraPath read_camera_path(const std::string& file);

/// What parse_camera_path() reads back: times to 10 digits, the rest to 7.
std::string camera_path_text(std::span<const KeyFrame> key_frames);

}  // namespace orrery
