// Interfaces of kernels that several ranks or devices share: owners, potentials, and bodies that they hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// The rank or device that evaluates the acceleration of each body.
struct BodyOwners {
  std::vector<std::string> names{};  ///< names of the ranks or devices, such as "rank 0"; empty: only one evaluates
  std::vector<int> of_body{};        ///< index into `names` for each body; empty if `names` is empty
  std::string why_unknown{};         ///< why the owners are unknown; then both lists are empty
  friend bool operator==(const BodyOwners&, const BodyOwners&) = default;
};

/// Implemented by kernels whose evaluations several ranks or devices share.
class OwnersFacet {
 public:
  virtual ~OwnersFacet() = default;
  /// Returns the owners of `count` bodies in the latest evaluation of all bodies whose owners are known; none if not
  /// yet known.
  virtual std::optional<BodyOwners> owners(int count) const = 0;
  /// Enqueues on `stream` the copies of the latest evaluation that owners() needs. Call between two evaluations.
  virtual void read_owners(int /*count*/, CUstream_st* /*stream*/) {}
};

inline std::optional<BodyOwners> owners_of(const ForceKernel& kernel, int count) {
  const auto* const shared = dynamic_cast<const OwnersFacet*>(&kernel);
  return shared ? shared->owners(count) : BodyOwners{};
}

inline void read_owners(ForceKernel& kernel, int count, CUstream_st* stream) {
  if (auto* const shared = dynamic_cast<OwnersFacet*>(&kernel)) shared->read_owners(count, stream);
}

/// Implemented by kernels whose ranks can share the sum over all pairs for the potential energy.
class PotentialFacet {
 public:
  virtual ~PotentialFacet() = default;
  /// Returns the potentials of all bodies, bit for bit as potentials_with_earlier(). Throws as ForceKernel::evaluate().
  virtual std::vector<double> potentials(const Bodies& bodies, const Law& law, const std::atomic<bool>* cancelled) = 0;
};

/// Returns the kernel's interface for potentials; null if it has none.
inline PotentialFacet* potentials_of(ForceKernel& kernel) {
  return dynamic_cast<PotentialFacet*>(&kernel);
}

/// Parameters of a step of the bodies that ranks hold.
struct SpreadStep {
  std::string_view integrator_id;  ///< an integrator without levels and without jerks
  float time_step = 0;
  Law law{};
  const std::atomic<bool>& cancelled;
};

/// Result of a SpreadStep.
struct SpreadResult {
  bool complete = false;  ///< false: the step was cancelled, and the bodies are as before
  int not_finite = -1;    ///< first non-finite body, the same as with one process; -1: none
  int evaluations = 0;
  double force_ms = 0;  ///< duration of all evaluations together
  double by_tree = 0;   ///< number of interactions of a tree, see ForceArgs::evaluated
};

/// Implemented by kernels whose ranks can hold and move the bodies from step to step, each rank a part of them. After a
/// step, the bodies are bit for bit those of a run with one process.
class SpreadFacet {
 public:
  virtual ~SpreadFacet() = default;
  /// Scatters the bodies, whose masses are in this range, to the ranks. The bodies must have Digits::single. Throws as
  /// ForceKernel::evaluate().
  virtual void spread(const Bodies& bodies, const MassRange& masses) = 0;
  /// Makes a step. Call after spread(). Throws as ForceKernel::evaluate(); the bodies are then unchanged, unless a rank
  /// is lost.
  virtual SpreadResult step(const SpreadStep& step) = 0;
  /// Returns copies of the bodies that the ranks hold.
  virtual Bodies gather() = 0;
  /// Returns the bodies as a source that gathers one piece at a time. Valid until the next spread() or step(); the
  /// kernel must outlive it.
  virtual std::unique_ptr<BodySource> source() = 0;
};

/// Returns the kernel's interface for bodies that ranks hold; null if it has none.
inline SpreadFacet* spread_of(ForceKernel& kernel) {
  return dynamic_cast<SpreadFacet*>(&kernel);
}

/// Implemented by CUDA kernels whose devices can hold the bodies between evaluations, each device a part of them.
/// `stream` belongs to the first device, which must be active and remains active. With the devices of one process, only
/// hold() blocks; with the devices of ranks, every function may block. Passes over the bodies of a device note the
/// non-finite bodies that they find. In every evaluation, the devices exchange the earliest finding.
class ResidentFacet {
 public:
  virtual ~ResidentFacet() = default;
  /// Returns whether the devices can hold `count` bodies.
  virtual bool can_hold(int count) const = 0;
  /// Returns whether ForceKernel::prepare() has allocated enough memory to hold `count` bodies.
  virtual bool has_room(int count) const = 0;
  /// Scatters all bodies to the devices, which hold them until the next hold() or ForceKernel::evaluate(). The bodies
  /// must be in memory that the devices of one process can access, and the finding so far in memory of the first
  /// device. Throws as ForceKernel::prepare(); the devices then hold none.
  virtual void hold(const Vec4* d_positions, const Vec4* d_velocities, int count, const cuda::PackedFinding* d_finding,
                    CUstream_st* stream) = 0;
  /// Kicks and drifts all bodies like cuda::kick_drift() of the integrators. `check.report.ids` is not used.
  virtual void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream) = 0;
  /// Checks all bodies like cuda::check_finite() of the integrators. Writes the earliest finding of all devices since
  /// hold() to the report.
  virtual void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream) = 0;
  /// Evaluates the accelerations of all bodies, which may migrate to other devices. Ignores the pointers to bodies in
  /// `args`, which must have no epilogue and no targets. Throws as ForceKernel::evaluate(); then the devices hold none.
  virtual void evaluate_residents(const ForceArgs& args) = 0;
  /// Gathers the arrays of all bodies, in their order, in memory that the devices can access; null: not gathered. The
  /// accelerations are from the latest evaluation, if there was one.
  virtual void collect(Vec4* d_positions, Vec4* d_velocities, CUstream_st* stream, Vec4* d_accelerations = nullptr) = 0;
};

/// Returns the kernel's interface for bodies that devices hold; null if it has none.
inline ResidentFacet* residents_of(ForceKernel& kernel) {
  return dynamic_cast<ResidentFacet*>(&kernel);
}

}  // namespace orrery
