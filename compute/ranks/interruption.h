#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

namespace orrery {

/// Ends all waiting for other ranks, once and for good. Any thread may check it.
class Interruption {
 public:
  /// Call at most once.
  void set(std::string why) {
    why_ = std::move(why);
    set_ = true;
  }
  explicit operator bool() const { return set_; }
  void check() const {
    if (set_) throw std::runtime_error(why_);
  }

 private:
  std::string why_;  // before set_: complete once that is seen
  std::atomic<bool> set_ = false;
};

}  // namespace orrery
