#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "app/film/film_frame.h"

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

}  // namespace orrery
