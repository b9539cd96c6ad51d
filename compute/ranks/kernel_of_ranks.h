#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/devices/part_sizes.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/shared_facets.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/rank_bodies.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// Leader's handle of a kernel that every rank has made. Orders the workers to make, prepare and drop theirs.
class MadeKernel {
 public:
  /// `line` must outlive this. `key` names the kernel in orders. `make_own` makes the leader's kernel while the workers
  /// make theirs. Throws as KernelInfo::make(), also for a worker's error.
  MadeKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings,
             const std::function<void()>& make_own);
  MadeKernel(const MadeKernel&) = delete;
  MadeKernel& operator=(const MadeKernel&) = delete;
  ~MadeKernel() { drop(); }

  /// Calls ForceKernel::prepare() on all ranks; `prepare_own` is called on the leader.
  void prepare(int count, const std::function<void()>& prepare_own);
  /// Forces another prepare(): the ranks' data must not be used again.
  void forget() { prepared_ = 0; }
  /// Returns the number of bodies for which all ranks are prepared; 0: not prepared.
  int prepared() const { return prepared_; }

 private:
  void drop() noexcept;

  WorkerLine& line_;
  const int key_;
  int prepared_ = 0;
};

/// Leader's side of bodies of which every rank holds a part: sends the orders and does the leader's own part.
class SpreadBodies {
 public:
  /// `line` must outlive this. `key` names the kernel in orders.
  SpreadBodies(WorkerLine& line, int key) : line_{line}, key_{key} {}

  /// `has_domains`: whether the kernel has domains.
  void spread(const Bodies& bodies, const MassRange& masses, bool has_domains);
  /// `own`: the leader's kernel.
  SpreadStepped step(const SpreadStep& step, ForceKernel& own);
  /// Returns all bodies. `owners` receives the rank of each.
  Bodies gather(std::vector<int>& owners);
  /// Returns access to the bodies, which stay on their ranks. Valid until the next step() or spread(), and while this
  /// lives.
  std::unique_ptr<BodySource> source();
  /// Returns the sums of the workers' figures in the last evaluation of the latest step.
  const Stepped& others() const { return others_; }

 private:
  class Source;
  /// Reads the bodies of a piece into arrays that begin with its first body. Calls found(rank, indices in the piece).
  void get(const PieceRange& piece, std::span<Vec4> positions, std::span<Vec4> velocities,
           const std::function<void(int rank, std::span<const int> places)>& found);
  // See BodySource:
  BodyBounds bounds();
  bool write_jointly(const JointRows& rows);
  void undo();

  WorkerLine& line_;
  const int key_;
  int count_ = 0;
  RankBodies own_;
  RankArrays arrays_;  // the leader's copies; only for kernels without domains
  Stepped others_;
};

/// Leader's side of a kernel that every rank has made. Workers hold copies of bodies for one evaluation, unless bodies
/// stay with their ranks from step to step: see SpreadFacet.
class KernelOfRanks : public ForceKernel, public OwnersFacet, public PotentialFacet, public SpreadFacet {
 public:
  void prepare(int count) override;
  void bodies_replaced() override {
    own_->bodies_replaced();
    owners_.clear();
  }
  std::string chosen(int count, const MassRange& masses) const override;
  std::vector<double> potentials(const Bodies& bodies, const Law& law, const std::atomic<bool>* cancelled) override;
  void spread(const Bodies& bodies, const MassRange& masses) override;
  SpreadStepped step(const SpreadStep& step) override { return spread_.step(step, *own_); }
  Bodies gather() override { return spread_.gather(owners_); }
  std::unique_ptr<BodySource> source() override { return spread_.source(); }
  std::optional<BodyOwners> owners(int count) const override;

 protected:
  /// `line` must outlive this. `key` names the kernel in orders. Throws as KernelInfo::make(), also for a worker's
  /// error.
  KernelOfRanks(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings);

  /// Allocates the leader's own memory for `count` bodies.
  virtual void prepare_own(int count) = 0;
  /// Calls prepare() if the ranks are not prepared for `count` bodies.
  void prepare_for(int count);
  Evaluation evaluation_of(const ForceArgs& args) const;
  std::size_t ranks() const { return static_cast<std::size_t>(line_.ranks()); }

  WorkerLine& line_;
  const int key_;
  const bool reads_low_words_;
  std::unique_ptr<ForceKernel> own_;
  SpreadBodies spread_;
  std::vector<int> owners_;  // rank of each body in the latest evaluation of all bodies; empty: unknown

 private:
  MadeKernel made_;  // after own_, which its constructor sets
};

}  // namespace orrery
