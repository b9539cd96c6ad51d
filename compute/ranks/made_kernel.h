#pragma once

#include <functional>

#include "compute/kernels/kernel.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// On the leader, a kernel that every rank has made: what tells the workers to make, prepare and drop theirs.
class MadeKernel {
 public:
  /// `line` must outlive this. `key` names the kernel in orders. `make_own` makes the leader's, while the workers make
  /// theirs. Throws as KernelInfo::make(), also a worker's error.
  MadeKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings,
             const std::function<void()>& make_own);
  MadeKernel(const MadeKernel&) = delete;
  MadeKernel& operator=(const MadeKernel&) = delete;
  ~MadeKernel() { drop(); }

  /// ForceKernel::prepare() of all ranks; `prepare_own`: of the leader.
  void prepare(int count, const std::function<void()>& prepare_own);
  /// What the ranks hold must not be used again.
  void forget() { prepared_ = 0; }
  /// For how many bodies all ranks are prepared; 0: they are not.
  int prepared() const { return prepared_; }

 private:
  void drop() noexcept;

  WorkerLine& line_;
  const int key_;
  int prepared_ = 0;
};

}  // namespace orrery
