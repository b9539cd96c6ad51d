#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/film/film_output.h"
#include "app/film/frame_workers.h"
#include "app/text/progress.h"
#include "app/ui_state/film_options.h"
#include "app/ui_state/window_size.h"
#include "compute/core/output_name.h"

namespace orrery {

/// A film in the making. Every failure throws std::runtime_error, one line.
class Film {
 public:
  /// A film of frames 0 to `frames` - 1. Starts ffmpeg, or makes the folder.
  Film(const FilmOptions& options, WindowSize size, std::int64_t frames, Existing existing);

  /// See FilmOutput::begin. Prints how many frames are kept, if any.
  void begin(const Json& run);
  /// Whether the frame is to be added.
  bool wants(std::int64_t frame) const { return !output_->kept().contains(frame); }
  /// Whether no frame from this one on is to be added.
  bool complete_from(std::int64_t frame) const { return frame > last_wanted_; }

  /// Whether take_free() would not wait.
  bool has_free() { return workers_->has_free(); }
  /// A frame to fill in and to add(). Waits while all are in use.
  FilmFrame take_free() { return workers_->take_free(); }
  /// A folder has one file for a frame that is shown several times.
  void add(FilmFrame frame);

  /// Shows what is done once `frame` has been drawn, or passed over.
  void show_progress(std::int64_t frame, bool drawn);
  /// Before something else is printed.
  void hide_progress() { progress_.clear(); }
  /// Completes the film with the frames that it has; later calls do nothing. Returns "wrote a.mp4: 30 frames, ...",
  /// empty if there is no frame.
  std::string finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Pace {  // of frames that are drawn, or passed over
    std::int64_t frames = 0;
    double total_s = 0;
    double per_frame_s() const { return frames > 0 ? total_s / static_cast<double>(frames) : 0; }
  };

  const FilmOptions options_;
  const std::int64_t frames_;
  std::unique_ptr<FilmOutput> output_;
  std::unique_ptr<FrameWorkers> workers_;  // after the output that they use
  Progress progress_;
  std::int64_t last_wanted_ = -1, added_ = 0, pictures_ = 0, kept_ = 0;
  Pace drawn_, passed_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  bool finished_ = false;
};

}  // namespace orrery
