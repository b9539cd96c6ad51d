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

/// A rank's part of an evaluation in which each rank has some of the bodies.
class DomainPart {
 public:
  /// Reads an Evaluation; the bodies' positions; the targets, if listed, as indices into these bodies; the targets'
  /// velocities, if they are kicked; and the division. `order` and `arrays` must outlive this.
  DomainPart(MessageReader order, RankArrays& arrays) : arrays_{arrays}, part_{order.get<Evaluation>()}, rest_{order} {}

  int key() const { return part_.key; }
  /// Every rank calls this. Throws the kernel's errors, and std::bad_alloc.
  void evaluate(ForceKernel& kernel, RankExchange& ranks, const std::atomic<bool>& cancelled);
  /// Writes an Evaluated and, unless it was cancelled, the targets' results in their order.
  void put_results(MessageWriter& reply) const;

 private:
  void read_bodies();
  std::span<int> targets() const;

  RankArrays& arrays_;
  Evaluation part_;
  MessageReader rest_;  // rest of the order
  Evaluated result_;
};

/// Kernel of which each rank evaluates its own part of the bodies. The parts change until all ranks need the same time.
class DomainKernel final : public KernelOfRanks, public TreeFacet {
 public:
  DomainKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings)
      : KernelOfRanks{line, key, kernel, settings}, sizes_{line.ranks()} {}

  TreeFacet* tree() override { return own_->tree() ? this : nullptr; }
  /// The phases are those of this rank, as are the cells that can be picked.
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
    std::vector<int> bodies;   // indices into the arrays of all bodies, ascending
    std::vector<int> targets;  // indices of the listed targets into the same arrays, in any order
    std::vector<int> places;   // indices of the targets into `bodies`
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

  RankArrays arrays_;            // the leader's part
  std::vector<int> divided_;     // rank of each body
  std::vector<int> places_;      // index of each body within its domain; only if targets are listed
  std::vector<Domain> domains_;  // by rank
  MessageWriter division_, own_order_, own_reply_;
  LearnedSizes sizes_;
  Evaluated others_;  // sums of the workers' figures in the latest evaluation
};

}  // namespace orrery
