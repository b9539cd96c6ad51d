#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/devices/part_sizes.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/owners_facet.h"
#include "compute/kernels/potential_facet.h"
#include "compute/kernels/spread_facet.h"
#include "compute/ranks/made_kernel.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/rank_arrays.h"
#include "compute/ranks/spread_bodies.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// On the leader, a kernel that every rank has made. Workers hold copies of bodies for one evaluation, unless bodies
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
  /// `line` must outlive this. `key` names the kernel in orders. Throws as KernelInfo::make(), also a worker's error.
  KernelOfRanks(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings);

  /// Takes the leader's own memory for so many bodies.
  virtual void prepare_own(int count) = 0;
  /// prepare(), unless that was the last one.
  void prepare_for(int count);
  Evaluation evaluation_of(const ForceArgs& args) const;
  std::size_t ranks() const { return static_cast<std::size_t>(line_.ranks()); }

  WorkerLine& line_;
  const int key_;
  const bool reads_low_words_;
  std::unique_ptr<ForceKernel> own_;
  SpreadBodies spread_;
  std::vector<int> owners_;  // of each body, its rank, in the latest evaluation of all bodies; empty: not known

 private:
  MadeKernel made_;  // after own_, which it makes
};

}  // namespace orrery
