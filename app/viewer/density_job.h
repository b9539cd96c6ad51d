#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// Local densities that are computed on a thread of their own, one array at a time.
class DensityJob {
 public:
  DensityJob() = default;
  DensityJob(const DensityJob&) = delete;
  DensityJob& operator=(const DensityJob&) = delete;
  ~DensityJob() { cancel(); }

  bool running() const { return thread_.joinable(); }
  /// Needs !running(). Throws std::runtime_error if no thread can be started.
  void start(std::vector<Vec4> positions);
  /// The densities once they are known, then running() ends; none before. Needs running().
  std::optional<std::vector<float>> poll();
  /// Waits until the thread has ended, which is soon.
  void cancel();
  /// Time that the last one took, in s.
  double cost_s() const { return cost_s_; }

 private:
  std::vector<Vec4> positions_;
  std::vector<float> densities_;
  double cost_s_ = 0;
  std::atomic<bool> cancelled_ = false, done_ = false;
  std::jthread thread_;  // last: it uses what is above
};

}  // namespace orrery
