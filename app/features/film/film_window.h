#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "app/features/film/film.h"
#include "app/text/csv.h"
#include "app/ui_state/picture_options.h"
#include "compute/core/atomic_file.h"
#include "render/gl/gl_objects.h"
#include "render/gl/readback.h"

namespace orrery {
/// A film of what a window shows, that plays at the pace at which the window showed it: FilmOptions::fps frames per
/// second, each with the last picture that the window had shown by then. So a slow window repeats pictures. Never waits
/// for ffmpeg: where it has no time for a picture, the one before is shown for longer. Needs the window's GL context
/// current. Every failure throws std::runtime_error, one line.
class LiveFilm {
 public:
  /// `size` in pixels, that of the window. `run` says what is filmed.
  LiveFilm(const FilmOptions& options, WindowSize size, Existing existing, const Json& run);

  /// Call once per frame, when it has been drawn and before it is presented; `now_s` only grows. Returns false, and
  /// adds nothing, if the canvas has another size.
  bool add(const render::Canvas& canvas, double now_s);
  /// Completes the film; its last picture was shown until now. Returns "wrote a.mp4: 30 frames, ...", empty if there is
  /// no picture.
  std::string finish(double now_s);

  const std::string& file() const noexcept { return file_; }
  std::int64_t pictures() const noexcept { return pictures_; }

 private:
  std::int64_t frame_at(double now_s) const;
  void show_last_until(std::int64_t frame);
  void take_oldest();

  const std::string file_;
  const WindowSize size_;
  const double interval_s_;
  Film film_;
  render::PixelReader reader_;
  std::optional<double> begin_s_;   // of the first picture
  std::int64_t next_ = 0;           // frame of the film that no picture shows yet
  std::deque<std::int64_t> times_;  // that the film shows each of the pictures that reader_ copies
  std::int64_t pictures_ = 0, left_out_ = 0;
};

}  // namespace orrery
