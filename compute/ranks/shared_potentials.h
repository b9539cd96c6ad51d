#pragma once

#include <atomic>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/core/message.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/worker_line.h"

// The potential energy of bodies, whose pairs all ranks share.
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

}  // namespace orrery
