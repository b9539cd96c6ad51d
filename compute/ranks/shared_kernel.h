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

/// On the leader: potentials_with_earlier() of all bodies, in blocks of some 0.2 s, between which others may use the
/// line. `key` names a kernel in orders. Throws as WorkerLine::exchange().
std::vector<double> shared_potentials(WorkerLine& line, int key, const Bodies& bodies, const Law& law,
                                      const std::atomic<bool>* cancelled);

/// On a worker, the bodies of such a sum.
class HeldPositions {
 public:
  /// Makes room for the bodies of Order::hold_positions.
  void prepare(MessageReader& order);
  /// What follows the key of Order::potentials.
  struct Block {
    Law law{};
    int first = 0, last = 0;  ///< of this rank's bodies, each of which meets those before it
    bool receives = false;    ///< the first block: the leader broadcasts the bodies
    bool is_last = false;     ///< after it, their memory is free again
  };
  /// Takes the broadcast into the room that prepare() made, so that this cannot fail for lack of memory.
  void receive(Communicator& ranks);
  /// Those of this rank's bodies.
  std::vector<double> potentials(const Block& block, const std::atomic<bool>& cancelled);

 private:
  std::vector<Vec4> positions_, low_;
};

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
