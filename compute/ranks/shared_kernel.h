#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/core/message.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/kernel_of_ranks.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// Returns the potentials of all bodies, computed by potentials_with_earlier() on all ranks in blocks of about 0.2 s.
/// Other threads may use the line between blocks. `key` names a kernel in orders. Throws as WorkerLine::exchange().
std::vector<double> shared_potentials(WorkerLine& line, int key, const Bodies& bodies, const Law& law,
                                      const std::atomic<bool>* cancelled);

/// A worker's copy of the bodies for shared_potentials().
class HeldPositions {
 public:
  /// Makes room for the bodies of Order::hold_positions.
  void prepare(MessageReader& order);
  /// Data after the key in Order::potentials.
  struct Block {
    Law law{};
    int first = 0, last = 0;  ///< range of this rank's bodies, each paired with all bodies before it
    bool receives = false;    ///< the leader broadcasts the bodies before this block, the first one
    bool is_last = false;     ///< the bodies' memory is freed after this block
  };
  /// Receives the broadcast into the room that prepare() made, so that this cannot fail for lack of memory.
  void receive(Communicator& ranks);
  /// Returns the potentials of this rank's bodies in the block.
  std::vector<double> potentials(const Block& block, const std::atomic<bool>& cancelled);

 private:
  std::vector<Vec4> positions_, low_;
};

/// Kernel of which each rank evaluates a part of the targets. All ranks get all bodies.
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

  std::vector<int> all_;             // indices of all bodies
  std::span<const int> targets_;     // targets of the current evaluation
  std::vector<std::size_t> bounds_;  // bounds of the ranks' shares of the targets: one more than there are ranks
};

}  // namespace orrery
