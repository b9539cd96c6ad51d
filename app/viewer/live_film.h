#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "app/film/film.h"
#include "render/canvas.h"
#include "render/gl/pixel_reader.h"

namespace orrery {

/// A film of what a window shows, at most FilmOptions::fps pictures per second: if the window shows fewer, the film
/// plays faster. Never waits for ffmpeg: pictures that it has no time for are left out. Needs the window's GL context
/// current. Every failure throws std::runtime_error, one line.
class LiveFilm {
 public:
  /// `size` in pixels, that of the window. `run` says what is filmed.
  LiveFilm(const FilmOptions& options, WindowSize size, Existing existing, const Json& run);

  /// Once per frame, when it has been drawn and before it is presented; `now_s` only grows. Returns false, and adds
  /// nothing, if the canvas has another size.
  bool add(const render::Canvas& canvas, double now_s);
  /// Completes the film. Returns "wrote a.mp4: 30 frames, ...", empty if there is no picture.
  std::string finish();

  const std::string& file() const noexcept { return file_; }
  std::int64_t pictures() const noexcept { return pictures_; }

 private:
  void take_oldest();

  const std::string file_;
  const WindowSize size_;
  const double interval_s_;
  Film film_;
  render::PixelReader reader_;
  double due_s_ = -std::numeric_limits<double>::infinity();  // of the next picture
  std::int64_t pictures_ = 0, left_out_ = 0;
};

}  // namespace orrery
