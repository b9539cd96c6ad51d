#include "app/film/frame_workers.h"

#include <utility>

#include "compute/core/start_thread.h"

namespace orrery {

FrameWorkers::FrameWorkers(int threads, std::size_t frame_bytes, std::function<void(const FilmFrame&)> work)
    : frame_bytes_{frame_bytes}, work_{std::move(work)}, not_made_yet_{static_cast<std::size_t>(threads) + 2} {
  for (int i = 0; i < threads; ++i) threads_.push_back(start_thread([this] { run(); }));
}

FrameWorkers::~FrameWorkers() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
}

void FrameWorkers::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

bool FrameWorkers::has_free() {
  const std::lock_guard lock{mutex_};
  return failure_ || not_made_yet_ > 0 || !free_.empty();
}

FilmFrame FrameWorkers::take_free() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return failure_ || !free_.empty() || not_made_yet_ > 0; });
  rethrow();
  if (free_.empty()) {
    --not_made_yet_;
    lock.unlock();
    return {.number = 0, .rgba = std::vector<std::uint8_t>(frame_bytes_)};
  }
  FilmFrame frame = std::move(free_.back());
  free_.pop_back();
  return frame;
}

void FrameWorkers::add(FilmFrame frame) {
  {
    const std::lock_guard lock{mutex_};
    waiting_.push_back(std::move(frame));
  }
  changed_.notify_all();
}

void FrameWorkers::finish() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return at_work_ == 0 && (failure_ || waiting_.empty()); });
  rethrow();
}

void FrameWorkers::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || (!waiting_.empty() && !failure_); });
    if (ending_) return;
    FilmFrame frame = std::move(waiting_.front());
    waiting_.pop_front();
    ++at_work_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work_(frame);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --at_work_;
    if (failure && !failure_) failure_ = failure;
    free_.push_back(std::move(frame));
    changed_.notify_all();
  }
}

}  // namespace orrery
