#pragma once

#include <chrono>
#include <optional>

namespace orrery {

/// When the panels are laid out anew: at most 125 times per second while somebody uses them, and 10 times while not.
class LayoutPace {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// Somebody moved the pointer, pressed a key ...
  void used(Time now) { used_ = now; }
  void laid_out(Time now) { laid_out_ = now; }
  /// The last layout cannot be drawn again.
  void forget() { laid_out_.reset(); }

  bool due(Time now) const {
    if (!laid_out_) return true;
    const bool in_use = used_ && now - *used_ < std::chrono::milliseconds{300};  // what input has moved comes to rest
    return now - *laid_out_ >= std::chrono::milliseconds{in_use ? 8 : 100};
  }

 private:
  std::optional<Time> laid_out_, used_;
};

}  // namespace orrery
