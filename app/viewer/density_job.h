#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// Local densities that are computed in the background, one array at a time, on a quarter of the usable threads.
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
  /// Processor time that the last one took, in s: at most this.
  double cost_s() const { return cost_s_; }

 private:
  std::vector<Vec4> positions_;
  std::vector<float> densities_;
  double cost_s_ = 0;
  std::atomic<bool> cancelled_ = false, done_ = false;
  std::jthread thread_;  // last: it uses what is above
};

}  // namespace orrery
