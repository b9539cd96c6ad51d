#pragma once

#include <utility>

namespace orrery::render {

/// A mark in the GL commands that tells when the GPU has carried out those before it. Needs the context it was made in.
class Fence {
 public:
  Fence() = default;
  Fence(Fence&& other) noexcept : sync_{std::exchange(other.sync_, nullptr)} {}
  Fence& operator=(Fence&& other) noexcept {
    std::swap(sync_, other.sync_);
    return *this;
  }
  ~Fence() { clear(); }

  /// Marks the commands until now. Needs !is_set().
  void set();
  bool is_set() const noexcept { return sync_ != nullptr; }
  void clear() noexcept;

  /// Whether the GPU has come so far; `flush`: sends the commands that it has not been given yet. Needs is_set().
  bool passed(bool flush) const;
  /// Waits until it has. Needs is_set().
  void wait() const;

 private:
  void* sync_ = nullptr;  // GLsync
};

}  // namespace orrery::render
