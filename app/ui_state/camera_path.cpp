#include "app/ui_state/camera_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

/// Returns the slope of a parabola through three values at its first one, limited so that the curve stays monotone.
/// `h`: intervals, `d`: slopes of the chords; index 0 is the nearer one.
double end_slope(double h0, double h1, double d0, double d1) {
  const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if (slope * d0 <= 0) return 0;
  return d0 * d1 < 0 && std::abs(slope) > 3 * std::abs(d0) ? 3 * d0 : slope;
}

/// Returns a weighted harmonic mean of the chords' slopes (Fritsch and Butland); 0 at a local extremum.
double inner_slope(double h0, double h1, double d0, double d1) {
  if (d0 * d1 <= 0) return 0;
  const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
  return (w0 + w1) / (w0 / d0 + w1 / d1);
}

}  // namespace

CameraPath::CameraPath(std::vector<KeyFrame> key_frames) : key_frames_{std::move(key_frames)} {
  if (key_frames_.empty()) throw UsageError("a camera path needs a key frame");
  for (std::size_t i = 1; i < key_frames_.size(); ++i) {
    if (!(key_frames_[i].time_s - key_frames_[i - 1].time_s >= least_interval_s)) {
      throw UsageError("the times of a camera path's key frames must grow");
    }
  }
  double azimuth = key_frames_.front().view.azimuth;
  for (const KeyFrame& key_frame : key_frames_) {
    const CameraView& view = key_frame.view;
    azimuth += std::remainder(view.azimuth - azimuth, 2 * std::numbers::pi);
    const std::array values{azimuth,       view.elevation, std::log(view.distance),
                            view.target.x, view.target.y,  view.target.z};
    for (std::size_t i = 0; i < curves_.size(); ++i) curves_[i].push_back({values[i], 0});
  }
  for (Curve& curve : curves_) set_slopes(curve);
}

void CameraPath::set_slopes(Curve& curve) const {
  const std::size_t last = curve.size() - 1;
  const auto h = [&](std::size_t i) { return key_frames_[i + 1].time_s - key_frames_[i].time_s; };
  const auto d = [&](std::size_t i) { return (curve[i + 1].value - curve[i].value) / h(i); };
  if (last == 0) return;
  if (last == 1) {
    curve[0].slope = curve[1].slope = d(0);
    return;
  }
  curve[0].slope = end_slope(h(0), h(1), d(0), d(1));
  curve[last].slope = end_slope(h(last - 1), h(last - 2), d(last - 1), d(last - 2));
  for (std::size_t i = 1; i < last; ++i) curve[i].slope = inner_slope(h(i - 1), h(i), d(i - 1), d(i));
}

/// Evaluates the cubic Hermite polynomial between key frame `segment` and the next one.
double CameraPath::value(const Curve& curve, std::size_t segment, double time_s) const {
  const double h = key_frames_[segment + 1].time_s - key_frames_[segment].time_s;
  const double t = (time_s - key_frames_[segment].time_s) / h, u = 1 - t;
  const Knot &from = curve[segment], &to = curve[segment + 1];
  return from.value * u * u * (1 + 2 * t) + to.value * t * t * (1 + 2 * u) +
         h * t * u * (from.slope * u - to.slope * t);
}

CameraView CameraPath::at(double time_s) const {
  if (!(time_s > key_frames_.front().time_s)) return key_frames_.front().view;
  if (time_s >= end_s()) return key_frames_.back().view;
  const auto next = std::ranges::upper_bound(key_frames_, time_s, {}, &KeyFrame::time_s);
  const auto segment = static_cast<std::size_t>(next - key_frames_.begin()) - 1;
  std::array<double, 6> now{};
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = value(curves_[i], segment, time_s);
  return {.azimuth = now[0], .elevation = now[1], .distance = std::exp(now[2]), .target = {now[3], now[4], now[5]}};
}

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
