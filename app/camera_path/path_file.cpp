#include "app/camera_path/path_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "app/text/input_file.h"
#include "app/text/lines.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr double radians_per_degree = std::numbers::pi / 180;
constexpr std::size_t most_line_bytes = 1000, most_key_frames = 100'000;
constexpr const char* columns = "TIME AZIMUTH ELEVATION DISTANCE X Y Z";

constexpr Range<double> times{0, 1e9, "s"}, azimuths{-360, 360, "degrees"}, elevations{-90, 90, "degrees"};
constexpr Range<double> distances{1e-15, 1e15, "in units of length"}, places{-1e15, 1e15, "in units of length"};

struct Column {
  const char* name;
  const Range<double>& range;
};
constexpr std::array<Column, 7> line_columns{{{"TIME", times},
                                              {"AZIMUTH", azimuths},
                                              {"ELEVATION", elevations},
                                              {"DISTANCE", distances},
                                              {"X", places},
                                              {"Y", places},
                                              {"Z", places}}};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

KeyFrame parse_line(std::string_view line, const std::vector<KeyFrame>& before) {
  if (line.size() > most_line_bytes) {
    throw UsageError(fmt::format("a line of a camera path has at most {} bytes", most_line_bytes));
  }
  if (before.size() == most_key_frames) {
    throw UsageError(fmt::format("a camera path has at most {} key frames", most_key_frames));
  }
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() != line_columns.size()) {
    throw UsageError(
        fmt::format("a key frame is {} numbers, {}; this line has {}", line_columns.size(), columns, words.size()));
  }
  std::array<double, line_columns.size()> v{};
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = parse_in(line_columns[i].name, words[i], line_columns[i].range);
  if (!before.empty() && !(v[0] - before.back().time_s >= CameraPath::least_interval_s)) {
    throw UsageError(fmt::format("TIME cannot be '{}'; it must be at least {} s after the key frame before, at {} s",
                                 words[0], CameraPath::least_interval_s, before.back().time_s));
  }
  return {.time_s = v[0],
          .view = {.azimuth = v[1] * radians_per_degree,
                   .elevation = v[2] * radians_per_degree,
                   .distance = v[3],
                   .target = {v[4], v[5], v[6]}}};
}

}  // namespace

CameraPath parse_camera_path(std::string_view text, const std::string& name) {
  std::vector<KeyFrame> key_frames;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = take_line(text), line = trimmed(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    at_line(name, number, [&] { key_frames.push_back(parse_line(line, key_frames)); });
  }
  if (key_frames.empty()) throw UsageError(fmt::format("{}:1: it has no key frame: a line {}", name, columns));
  return CameraPath{std::move(key_frames)};
}

CameraPath read_camera_path(const std::string& file) {
  std::string text;
  try {
    text = read_text(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot read the camera path {}", failure_text(error)));
  }
  return parse_camera_path(text, file);
}

std::string camera_path_text(std::span<const KeyFrame> key_frames) {
  std::string text = fmt::format("# A camera path of orrery: seconds, degrees, units of length.\n# {}\n", columns);
  for (const KeyFrame& key_frame : key_frames) {
    const CameraView& view = key_frame.view;
    text += fmt::format("{:.10g} {:.7g} {:.7g} {:.7g} {:.7g} {:.7g} {:.7g}\n", key_frame.time_s,
                        view.azimuth / radians_per_degree, view.elevation / radians_per_degree, view.distance,
                        view.target.x, view.target.y, view.target.z);
  }
  return text;
}

}  // namespace orrery
