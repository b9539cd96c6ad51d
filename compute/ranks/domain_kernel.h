#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/core/message.h"
#include "compute/devices/part_sizes.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/kernel.h"
#include "compute/ranks/kernel_of_ranks.h"
#include "compute/ranks/orders.h"

namespace orrery {

/// A rank's part of an evaluation in which each rank has a part of the bodies.
class DomainPart {
 public:
  /// Reads an Evaluation, the positions of the bodies, the targets if they are listed, as places among these bodies,
  /// the velocities of the targets if they are kicked, and the division. `order` and `arrays` must outlive this.
  DomainPart(MessageReader order, RankArrays& arrays) : arrays_{arrays}, part_{order.get<Evaluation>()}, rest_{order} {}

  int key() const { return part_.key; }
  /// Every rank calls this. Throws what the kernel throws, and std::bad_alloc.
  void evaluate(ForceKernel& kernel, RankExchange& ranks, const std::atomic<bool>& cancelled);
  /// Writes an Evaluated and, unless it was cancelled, what was found for the targets, in their order.
  void put_results(MessageWriter& reply) const;

 private:
  void read_bodies();
  std::span<int> targets() const;

  RankArrays& arrays_;
  Evaluation part_;
  MessageReader rest_;  // of the order
  Evaluated result_;
};

/// A kernel of which each rank has a part of the bodies, and evaluates those. The parts change such that all ranks need
/// the same time.
class DomainKernel final : public KernelOfRanks, public TreeFacet {
 public:
  DomainKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings)
      : KernelOfRanks{line, key, kernel, settings}, sizes_{line.ranks()} {}

  TreeFacet* tree() override { return own_->tree() ? this : nullptr; }
  /// The phases are those of this rank, and so are the cells that can be picked.
  std::optional<TreeReport> report() const override;
  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    own_->tree()->pick_cells(request, stream);
  }
  std::optional<PickedCells> cells() const override { return own_->tree()->cells(); }

  SpreadStepped step(const SpreadStep& step) override;

 protected:
  void prepare_own(int count) override;
  void do_evaluate(const ForceArgs& args) override;

 private:
  /// A rank's part of the bodies.
  struct Domain {
    std::vector<int> bodies;   // in the arrays of all bodies, ascending
    std::vector<int> targets;  // likewise, in any order, if some are listed
    std::vector<int> places;   // those of the targets among `bodies`
    double ms = 0;
  };

  void divide(const ForceArgs& args);
  void divide_targets(const Targets& targets);
  static const std::vector<int>& targets_of(const Domain& domain, const ForceArgs& args) {
    return args.targets ? domain.targets : domain.bodies;
  }
  void put_part(const Domain& domain, const ForceArgs& args, Evaluation part, MessageWriter& order) const;
  void take_results(Domain& domain, const ForceArgs& args, MessageReader& reply);
  void learn_sizes();

  RankArrays arrays_;            // of the leader's part
  std::vector<int> divided_;     // of each body, its rank
  std::vector<int> places_;      // and, if targets are listed, its place in the domain
  std::vector<Domain> domains_;  // by rank
  MessageWriter division_, own_order_, own_reply_;
  LearnedSizes sizes_;
  Evaluated others_;  // sums of the workers' figures of the latest evaluation
};

}  // namespace orrery
