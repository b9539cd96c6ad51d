#pragma once

#include <atomic>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/core/message.h"
#include "compute/ranks/worker_line.h"

// The potential energy of bodies, whose pairs all ranks share.
namespace orrery {

/// On the leader: potentials_with_earlier() of all bodies. Throws as WorkerLine::exchange().
std::vector<double> shared_potentials(WorkerLine& line, const Bodies& bodies, const Law& law,
                                      const std::atomic<bool>* cancelled);
/// On a worker, which has read Order::potentials: those of its part.
std::vector<double> potentials_of_part(MessageReader& order, const std::atomic<bool>& cancelled);

}  // namespace orrery
