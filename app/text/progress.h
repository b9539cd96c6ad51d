#pragma once

#include <chrono>
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

  /// `left_s` is the expected time of the remaining work; empty while it is unknown.
  void show_left(std::optional<double> left_s, const std::string& what);
  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_;
  bool on_screen_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

/// "42 s", "3 min 5 s", "2 h 10 min".
std::string duration_text(double seconds);

}  // namespace orrery
