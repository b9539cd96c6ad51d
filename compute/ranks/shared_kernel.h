#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/devices/part_sizes.h"
#include "compute/kernels/kernel.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// A kernel of which each rank evaluates a part of the targets. All ranks get all bodies, and a tree is built by each.
/// The parts of a tree's bodies change such that all ranks need the same time.
/// The bodies of this process are the only ones that last: workers hold copies for one evaluation.
class SharedKernel final : public ForceKernel, public TreeFacet, public JerkFacet {
 public:
  /// `line` must outlive this. `key` names the kernel in orders. Throws as KernelInfo::make(), also a worker's error.
  SharedKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings);
  ~SharedKernel() override;

  void prepare(int count) override;
  void bodies_replaced() override { own_->bodies_replaced(); }
  TreeFacet* tree() override { return own_->tree() ? this : nullptr; }
  JerkFacet* jerks() override { return own_->jerks() ? this : nullptr; }
  std::string chosen(int count, const MassRange& masses) const override;

  std::optional<TreeReport> report() const override;
  void pick_cells(const CellRequest& request, CUstream_st* stream) override {
    own_->tree()->pick_cells(request, stream);
  }
  std::optional<PickedCells> cells() const override { return own_->tree()->cells(); }
  std::vector<int> order() const override { return own_->tree()->order(); }

  void evaluate_jerks(const JerkArgs& args) override;

 protected:
  void do_evaluate(const ForceArgs& args) override;

 private:
  void share_out(const Targets& targets, int count);
  void learn_sizes(std::span<const double> ms);
  std::span<const int> share(int rank) const;
  Targets own_targets() const { return {share(0).data(), static_cast<int>(share(0).size())}; }
  Evaluation part_of(int rank, Evaluation part) const;
  void drop() noexcept;

  WorkerLine& line_;
  int key_;
  bool reads_low_words_;
  std::unique_ptr<ForceKernel> own_;
  int prepared_ = 0;                    // for so many bodies
  std::vector<int> all_;                // the bodies; of a tree, neighbours in space beside each other
  std::span<const int> targets_;        // of the present evaluation
  std::vector<std::size_t> bounds_;     // of the ranks' shares of them: one more than there are ranks
  PartSizes sizes_;                     // of the shares of all bodies that stand in the order of a tree
  std::vector<double> least_ms_;        // by rank, of the evaluations with these sizes
  int timed_ = -1;                      // so many of them; -1: the first one is not in the order of the tree
  std::int64_t tree_interactions_ = 0;  // of the workers, in the latest evaluation
  double vector_instructions_ = 0;      // likewise
};

}  // namespace orrery
