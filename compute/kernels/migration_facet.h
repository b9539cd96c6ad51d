#pragma once

#include <span>

#include "compute/core/vec.h"
#include "compute/kernels/division_facet.h"

namespace orrery {

/// Bodies in the memory of one device.
struct ResidentBodies {
  int count = 0;
  Vec4* positions = nullptr;  ///< x, y, z, m
  Vec4* velocities = nullptr;
  const Vec4* accelerations = nullptr;  ///< of the latest evaluation; undefined before the first
  int* ids = nullptr;                   ///< their numbers among all bodies
};

/// What CUDA kernels have, beside DivisionFacet, whose devices can hold the bodies from one evaluation to the next,
/// each those of its part. Before an evaluation, bodies move to the devices in whose parts they have come to be. This
/// takes some rounds: a device begins one when all have ended the round before. Then follow begin_part(), what devices
/// hand each other, and evaluate_part(), as with bodies that one device has. Devices that see each other's memory
/// connect by PeerFacet, and others as ShipmentFacet says. `args` are those of another device than the first, but on
/// the first one `evaluated` and `times_phases` are valid, too. All functions but the first three enqueue on
/// `args.stream`; the kernel's device must be active.
class MigrationFacet {
 public:
  virtual ~MigrationFacet() = default;
  /// Whether so many bodies are enough for so many devices.
  virtual bool can_hold(int count, int devices) const = 0;
  /// In place of DivisionFacet::prepare_division(). Afterwards, held() is the place for bodies of the part `index`, any
  /// ones. Throws as ForceKernel::prepare().
  virtual void prepare_residence(int count, int index, std::span<const Part> parts) = 0;
  /// Until the next move.
  virtual ResidentBodies held() = 0;

  /// The first device: begins an evaluation. Returns in how many rounds bodies move in it; 0: each device keeps its
  /// own.
  virtual int begin_residents(const ForceArgs& args) = 0;
  /// Every device, then. If there are rounds, bodies move to these parts.
  virtual void divide(const ForceArgs& args, std::span<const Part> parts, int rounds) = 0;
  virtual void round(int number, const ForceArgs& args) = 0;
  /// The first device, when all have evaluated their parts: ends the evaluation.
  virtual void finish_residents(const ForceArgs& args) = 0;
};

}  // namespace orrery
