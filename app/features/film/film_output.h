#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "app/text/csv.h"

namespace orrery {
/// One frame of a film: 4 bytes per pixel, red first, bottom row first as OpenGL reads it. The fourth byte has no
/// meaning.
struct FilmFrame {
  std::int64_t number = 0;  ///< from 0
  std::int64_t times = 1;   ///< that a film file shows it, one after the other; >= 1
  std::vector<std::uint8_t> rgba;
};

/// Where the frames of a film go. Every failure throws std::runtime_error with one line that names the output.
class FilmOutput {
 public:
  virtual ~FilmOutput() = default;

  /// Call once, before the first frame. `run` is an object with everything that the frames depend on.
  virtual void begin(const Json& run) = 0;
  /// Frames that an earlier run has made, which are not to be added.
  const std::set<std::int64_t>& kept() const { return kept_; }
  /// How many threads may call add() at once. If it is 1, frames come in order.
  virtual int threads() const = 0;
  virtual void add(const FilmFrame& frame) = 0;
  /// Completes the output after the last frame. Call once, if there was a frame. Returns its name.
  virtual std::string finish() = 0;

 protected:
  std::set<std::int64_t> kept_;
};

}  // namespace orrery
