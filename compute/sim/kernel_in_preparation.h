#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "compute/sim/backends.h"

namespace orrery {

/// A kernel with its settings, made on a thread of its own.
class KernelInPreparation {
 public:
  /// For `count` bodies. `backends` must outlive this.
  KernelInPreparation(const Backends& backends, KernelPtr kernel, Settings settings, int count);
  KernelInPreparation(const KernelInPreparation&) = delete;
  KernelInPreparation& operator=(const KernelInPreparation&) = delete;

  const KernelPtr& kernel() const { return kernel_; }
  const Settings& settings() const { return settings_; }

  /// Does nothing the second time. result() reports a thread that could not start.
  void start();
  bool ended() const;
  /// Nobody wants the result any more. One that is never started has ended; another one ends when the kernel is made.
  void abandon();
  /// Call once, when it has ended. Throws what making the kernel threw.
  std::shared_ptr<ForceKernel> result() { return made_.get(); }

 private:
  std::shared_ptr<ForceKernel> make() const;

  const Backends& backends_;
  const KernelPtr kernel_;
  const Settings settings_;
  const int count_;
  bool started_ = false;
  std::atomic<bool> abandoned_ = false;
  std::promise<std::shared_ptr<ForceKernel>> promise_;
  std::future<std::shared_ptr<ForceKernel>> made_ = promise_.get_future();
  std::jthread thread_;  // last: it uses what is above
};

}  // namespace orrery
