#pragma once

#include <atomic>
#include <memory>

#include "compute/kernels/kernel_sharing.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// Rank 0 of several: makes kernels that all ranks evaluate. The other ranks run serve_leader(); the destructor ends
/// them.
class RankLeader final : public KernelSharing {
 public:
  /// `ranks` and `watch` must outlive this.
  RankLeader(Communicator& ranks, RankWatch& watch) : line_{ranks, watch} {}

  /// Ends the other ranks, see WorkerLine.
  void end() { line_.end(); }

  int ranks() const override { return line_.ranks(); }
  std::unique_ptr<ForceKernel> make(const KernelInfo& kernel, const Settings& settings) override;

 private:
  WorkerLine line_;
  std::atomic<int> next_key_ = 0;
};

}  // namespace orrery
