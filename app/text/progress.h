#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace orrery {

/// One line on stderr with what is done and the time left, which each update replaces. Shown on a terminal, or on
/// request; without a terminal, each text is a line of its own, at most one per second.
class Progress {
 public:
  explicit Progress(bool even_without_terminal);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `left_s` is the expected time of the remaining work; empty while it is unknown. `done` is the part of the work
  /// that is done, 0 to 1, if `what` counts it; if empty, the part of the time.
  void show_left(std::optional<double> left_s, const std::string& what, std::optional<double> done = std::nullopt);
  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

/// Returns the share that show_left() takes as done: `done` of `total`; 0 if `total` is 0.
double part_of(std::int64_t done, std::int64_t total);

/// "42 s", "3 min 5 s", "2 h 10 min".
std::string duration_text(double seconds);

}  // namespace orrery
