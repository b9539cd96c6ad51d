// A film in the making, and the threads that work on its frames.
#include "app/features/film/film.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <utility>

#include "app/features/film/film_files.h"
#include "app/text/console.h"
#include "app/text/printable.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"

namespace orrery {
namespace {

std::unique_ptr<FilmOutput> make_output(const FilmOptions& options, WindowSize size, Existing existing) {
  if (options.folder) return std::make_unique<FrameFolder>(options, size, existing);
  return std::make_unique<FilmFile>(options, size, existing);
}

}  // namespace

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

Film::Film(const FilmOptions& options, WindowSize size, std::int64_t frames, Existing existing)
    : options_{options}, frames_{frames}, output_{make_output(options, size, existing)}, progress_{options.progress} {
  const std::size_t bytes = 4 * static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  workers_ = std::make_unique<FrameWorkers>(output_->threads(), bytes,
                                            [this](const FilmFrame& frame) { output_->add(frame); });
}

void Film::begin(const Json& run) {
  output_->begin(run);
  begin_ = last_ = Clock::now();
  const std::set<std::int64_t>& kept = output_->kept();
  kept_ = std::distance(kept.begin(), kept.lower_bound(frames_));
  last_wanted_ = frames_ - 1;
  while (kept.contains(last_wanted_)) --last_wanted_;
  if (kept_ == 0) return;
  console::print("kept {} of {} in {}\n", format_count(kept_), counted(frames_, "frame"), options_.out);
}

void Film::add(FilmFrame frame) {
  const std::int64_t times = frame.times;
  workers_->add(std::move(frame));
  added_ += times;
  ++pictures_;
}

void Film::show_progress(std::int64_t frame, bool drawn) {
  const Clock::time_point now = Clock::now();
  Pace& pace = drawn ? drawn_ : passed_;
  ++pace.frames;
  pace.total_s += std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  const std::int64_t left_to_pass = kept_ - passed_.frames, left_to_draw = frames_ - frame - 1 - left_to_pass;
  std::optional<double> left_s;
  if (drawn_.frames > 0) {
    left_s = static_cast<double>(left_to_draw) * drawn_.per_frame_s() +
             static_cast<double>(left_to_pass) * passed_.per_frame_s();
  }
  std::string what = fmt::format("frame {} of {}", format_count(frame + 1), format_count(frames_));
  if (drawn_.total_s > 0) {
    what += fmt::format(", {:.3g} frames/s", static_cast<double>(drawn_.frames) / drawn_.total_s);
  }
  progress_.show_left(left_s, what, part_of(frame + 1, frames_));
}

std::string Film::finish() {
  if (std::exchange(finished_, true)) return {};
  workers_->finish();
  progress_.clear();
  if (added_ == 0) return {};
  const std::string name = output_->finish();
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::int64_t total = added_ + kept_;
  const std::string parts = kept_ > 0 ? fmt::format(" ({} kept)", format_count(kept_)) : std::string{};
  const std::string source =
      pictures_ < added_
          ? fmt::format("{}, shown for several frames", counted(pictures_, "picture"))
          : fmt::format("rendered {:.3g} frames/s", elapsed_s > 0 ? static_cast<double>(pictures_) / elapsed_s : 0);
  return fmt::format("wrote {}: {}{}, {:.4g} s at {:g} frames/s; {}", printable(name), counted(total, "frame"), parts,
                     static_cast<double>(total) / options_.fps, options_.fps, source);
}

}  // namespace orrery
