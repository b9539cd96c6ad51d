#pragma once

#include <span>
#include <vector>

#include "compute/ranks/kernel_of_ranks.h"

namespace orrery {

/// A kernel of which each rank evaluates a part of the targets. All ranks get all bodies.
class SharedKernel final : public KernelOfRanks, public JerkFacet {
 public:
  SharedKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings)
      : KernelOfRanks{line, key, kernel, settings} {}

  JerkFacet* jerks() override { return own_->jerks() ? this : nullptr; }
  void evaluate_jerks(const JerkArgs& args) override;

 protected:
  void prepare_own(int count) override;
  void do_evaluate(const ForceArgs& args) override;

 private:
  void share_out(const Targets& targets, int count);
  void note_owners();
  std::span<const int> share(int rank) const;
  Targets own_targets() const { return {share(0).data(), static_cast<int>(share(0).size())}; }
  Evaluation part_of(int rank, Evaluation part) const;

  std::vector<int> all_;             // the bodies
  std::span<const int> targets_;     // of the present evaluation
  std::vector<std::size_t> bounds_;  // of the ranks' shares of them: one more than there are ranks
};

}  // namespace orrery
