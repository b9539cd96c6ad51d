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
/// Films the picture of a window, at the pace at which the window showed it. The film has FilmOptions::fps frames per
/// second. Each shows the last picture that the window had drawn by then, so a slow window repeats pictures. If ffmpeg
/// is busy, skips a picture rather than wait. Needs the window's GL context current. All functions throw
/// std::runtime_error, one line.
class LiveFilm {
 public:
  /// Starts the film. `size` is the window's size in pixels. `run` describes the simulation that is filmed.
  LiveFilm(const FilmOptions& options, WindowSize size, Existing existing, const Json& run);

  /// Adds the window's picture to the film. Call once per frame, after drawing and before presenting. `now_s` must not
  /// decrease. If `canvas` has another size, adds nothing and returns false.
  bool add(const render::Canvas& canvas, double now_s);
  /// Completes the film; its last picture lasts until `now_s`. Returns "wrote a.mp4: 30 frames, ...", or an empty text
  /// if there is no picture.
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
  std::optional<double> begin_s_;   // time of the first picture
  std::int64_t next_ = 0;           // first frame of the film that no picture covers yet
  std::deque<std::int64_t> times_;  // FilmFrame::times of each picture that reader_ still copies
  std::int64_t pictures_ = 0, left_out_ = 0;
};

}  // namespace orrery
