#pragma once

#include <chrono>
#include <string>

namespace orrery {

/// A line on stderr that is written over: what is done and the time left. On a terminal, or where asked for; without a
/// terminal each text is a line of its own, at most one a second.
class Progress {
 public:
  explicit Progress(bool even_without_terminal);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of the whole work, 0 to 1, where a unit of work is expected to take the same time everywhere.
  void show(double done, const std::string& what);
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
