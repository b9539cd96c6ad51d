#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/features/film/film_files.h"
#include "app/text/console.h"
#include "app/ui_state/picture_options.h"
#include "compute/core/atomic_file.h"

namespace orrery {
/// Threads that work on frames, in the order in which they come, while the next ones are drawn.
class FrameWorkers {
 public:
  /// `work` runs on `threads` threads. Two more frames than that exist at a time. Throws as start_thread().
  FrameWorkers(int threads, std::size_t frame_bytes, std::function<void(const FilmFrame&)> work);
  FrameWorkers(const FrameWorkers&) = delete;
  FrameWorkers& operator=(const FrameWorkers&) = delete;
  /// Frames that nobody works on yet are dropped.
  ~FrameWorkers();

  /// Whether take_free() would not wait.
  bool has_free();
  /// A frame to fill in, with the memory of one that is done: waits for that. Throws what `work` has thrown.
  FilmFrame take_free();
  /// Hands a filled frame to the threads.
  void add(FilmFrame frame);
  /// Waits until no frame is left. Throws what `work` has thrown; nothing runs after that.
  void finish();

 private:
  void run();
  void rethrow() const;

  const std::size_t frame_bytes_;
  const std::function<void(const FilmFrame&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FilmFrame> waiting_;
  std::vector<FilmFrame> free_;
  std::size_t not_made_yet_;  // frames
  int at_work_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;
};

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
