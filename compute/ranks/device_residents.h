#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/kernels/held_part.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/worker_line.h"

namespace orrery {

/// On the leader, bodies that the CUDA devices of all ranks hold: the orders for them, and the leader's own part. Other
/// ranks learn of passes over the bodies by the order that comes next.
class DeviceResidents {
 public:
  /// `line` and `own`, the leader's, must outlive this. `key` names the kernel in orders.
  DeviceResidents(WorkerLine& line, int key, HostedDivision& own) : line_{line}, key_{key}, own_{own} {}

  bool can_hold(int count) const { return own_.held() && own_.held()->can_hold(count, line_.ranks()); }
  /// Takes the memory of all ranks for so many bodies. Throws as ForceKernel::prepare().
  void prepare(int count);
  bool has_room(int count) const { return room_ > 0 && room_ == count; }
  /// So many are held; 0: none.
  int count() const { return held_; }
  /// They are held no more, and there is no room for them.
  void forget() { held_ = room_ = 0; }

  // As ResidentFacet. What these throw, the bodies do not survive.
  void hold(const HeldSource& from, int count, CUstream_st* stream);
  void kick_drift(const cuda::KickDrift& pass, const cuda::NonFiniteCheck& check, CUstream_st* stream);
  void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, CUstream_st* stream);
  /// `ms`: what each rank's device took for its part.
  void evaluate(const ForceArgs& args, std::span<const Part> parts, std::span<double> ms);
  void collect(const HeldPlaces& places, CUstream_st* stream);
  /// Collects the rank of each body in memory of the leader. Throws UsageError if there is none.
  const int* collect_owners(CUstream_st* stream);

 private:
  struct Work {
    HeldOrder kind;
    /// Puts what follows the passes.
    std::function<void(MessageWriter& order)> put;
    std::function<void(HeldPart& own, bool connected, JointWork& work)> own_part;
    /// Whether rank 0 only waits for data of others, so that its time is a measure of theirs (RankWatch). By default,
    /// nobody knows.
    std::function<bool()> own_work_ended = [] { return false; };
    std::function<void(int rank, MessageReader& reply)> take = [](int, MessageReader&) {};
  };
  /// Does it on all ranks. If that fails, the bodies are held no more.
  void do_on_all(const Work& what);
  /// Calls it; what it throws, the bodies do not survive.
  template <class What>
  void or_forget(const What& what);
  void exchange(const Work& what);
  void require_residents() const;

  WorkerLine& line_;
  const int key_;
  HostedDivision& own_;
  int room_ = 0, held_ = 0;
  std::vector<HeldPass> passes_;  // of which the other ranks do not know yet
};

}  // namespace orrery
