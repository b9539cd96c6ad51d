#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <numeric>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/error.h"
#include "compute/core/law.h"
#include "compute/core/message.h"
#include "compute/core/subnormals.h"
#include "compute/core/vec.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"

namespace orrery {

/// The first value of each message from the leader to a worker.
enum class Order {
  open_device,        ///< DevicesOfRanks::first, and all that are listed. Replied with RankDeviceFacts
  nccl_version,       ///< replied with RankDevice::nccl_version()
  connect,            ///< a ConnectionId. Replied
  disconnect,         ///< the device: what `connect` has made
  disconnect_kernel,  ///< a CUDA kernel: its key
  make,               ///< a kernel: its key, id and settings as text. Replied
  prepare,            ///< a kernel for a number of bodies: key, number. Replied
  evaluate,         ///< an Evaluation, the targets, and the velocities to kick; then a broadcast of all bodies. Replied
  evaluate_domain,  ///< what DomainPart reads. Replied
  take_room,        ///< for a CUDA kernel: its key, number of bytes. Replied
  evaluate_part,  ///< a DividedEvaluation, a Handout, all parts; then, unless blocks go from device to device, those of
                  ///< this rank alone, and a broadcast of the others. Replied; in the first case with `part_ended`
                  ///< before
  prepare_held,   ///< a CUDA kernel to hold bodies: its key, their number. Replied
  held,  ///< of a CUDA kernel: its key, a HeldHead, the HeldPasses since the order before, and what HeldOrder says.
         ///< Replied; see evaluate_part for that of an evaluation
  bodies_replaced,  ///< of a CUDA kernel: its key
  cells,            ///< of a CUDA kernel: its key. Replied with what HostedDivision::cells() writes
  spread,           ///< some bodies for a kernel: its key, and what RankBodies reads. Replied
  step,             ///< a StepOrder, and the integrator's id as text. Replied with a Stepped
  undo,             ///< the latest step of a kernel's bodies: its key
  gather,           ///< a piece of a kernel's bodies: its key, its range. Replied with what RankBodies writes
  bounds,           ///< of a kernel's bodies: its key. Replied with BodyBounds
  write_rows,       ///< a kernel's bodies: its key, their number on all ranks, JointRows. Replied
  hold_positions,   ///< for a kernel: its key, and what HeldPositions reads. Replied
  potentials,       ///< a kernel's key, and a HeldPositions::Block; then a broadcast if it says so. Replied with these
  cancel,  ///< what is in progress; comes too late if that has ended. Of evaluate_part and held: another rank failed
  drop,    ///< a kernel: its key
  end,     ///< serve_leader() returns. Replied
};

/// The first value of each reply: the second is the text of the error, except after `done` and `part_ended`.
enum class Outcome {
  done,
  refused,  ///< by a UsageError
  failed,
  stopped,     ///< see Stopped
  part_ended,  ///< no end of the order: the rank's part has ended, but not what it sends. Another reply follows
};

/// A rank's part of an evaluation.
struct Evaluation {
  int key = 0;      ///< of the kernel
  int count = 0;    ///< all bodies; those of this rank if each has a part of them
  int targets = 0;  ///< of this rank; may be 0
  bool lists_targets = true;
  bool jerks = false;      ///< JerkFacet::evaluate_jerks() of PreciseBody; otherwise ForceKernel::evaluate() of Vec4
  bool low_words = false;  ///< of the bodies are broadcast as well
  MassRange masses{};
  Law law{};
  // What the reply holds for each target, see Epilogue.
  bool stores = false, stores_low = false, kicks = false;
  float kick_dt = 0, drag = 0;
  Subnormals subnormals = Subnormals::kept;  ///< of the leader's thread
};

/// An evaluation that the ranks' CUDA devices divide. The reply is HostedDivision::part_ms(), and what its evaluate()
/// returns, or nothing.
struct DividedEvaluation {
  int key = 0;  ///< of the kernel
  int count = 0;
  int targets = 0;  ///< of all ranks; 0: all bodies
  MassRange masses{};
  Law law{};
  bool connected = false;  ///< the data go from device to device: see ConnectedDivision
};

/// What ranks do with the bodies that their CUDA devices hold: functions of HeldPart.
enum class HeldOrder {
  hold,
  check_finite,  ///< the number of the pass
  evaluate,      ///< a HeldForce, all parts. The reply is HostedDivision::part_ms()
  collect,       ///< HeldWanted
};

struct HeldHead {
  HeldOrder kind{};
  bool connected = false;  ///< see HeldPart
};

/// An evaluation of all bodies.
struct HeldForce {
  int count = 0;   ///< of all ranks
  int rounds = 0;  ///< see HeldEvaluation
  MassRange masses{};
  Law law{};
};

/// A step of the bodies that the ranks hold.
struct StepOrder {
  int key = 0;  ///< of the kernel
  float time_step = 0;
  Law law{};
  Subnormals subnormals = Subnormals::kept;  ///< of the leader's thread
};

/// A rank's part of a step.
struct Stepped {
  bool complete = false;  ///< otherwise a rank was cancelled or failed, and Order::undo follows
  int not_finite = -1;    ///< the first of this rank's bodies that was not finite after a pass; -1: none
  int passes = 0;         ///< over the bodies, so far
  int found_in = 0;       ///< the pass that found `not_finite`
  int evaluations = 0;
  double force_ms = 0;  ///< of all evaluations, with what the rank waited for others
  double by_tree = 0;   ///< of all evaluations, see ForceArgs::evaluated
  // Of the last evaluation, see TreeReport.
  double vector_instructions = 0;
  std::int64_t interactions = 0, cells = 0;
  int depth = 0;
};

/// In the reply; then come accelerations, their low words and velocities, or pulls.
struct Evaluated {
  bool complete = false;           ///< otherwise it was cancelled, and no entries follow
  std::uint64_t by_tree = 0;       ///< see ForceArgs::evaluated
  double vector_instructions = 0;  ///< of a tree, see TreeReport
  std::int64_t cells = 0;          ///< of the part of a tree
  int depth = 0;                   ///< of a tree
  double ms = 0;                   ///< what the kernel took, without its waiting for other ranks
};

/// A rank's copies for one evaluation, one entry per body. They never shrink, as several kernels may be in use.
struct RankArrays {
  std::vector<Vec4> positions, positions_low, velocities, accelerations, accelerations_low;
  std::vector<PreciseBody> precise;
  std::vector<Pull> pulls;
  std::vector<int> targets;

  /// Makes room for so many bodies.
  void prepare(int count, bool low_words = false, bool jerks = false) {
    const auto size = static_cast<std::size_t>(count);
    const auto grow = [&](auto& array) { array.resize(std::max(array.size(), size)); };
    grow(positions), grow(velocities), grow(accelerations), grow(targets);
    if (low_words) grow(positions_low), grow(accelerations_low);
    if (jerks) grow(precise), grow(pulls);
  }

  /// For a part of an evaluation whose bodies are here; without targets.
  ForceArgs args_of(const Evaluation& part) {
    return {.bodies = positions.data(),
            .bodies_low = part.low_words ? positions_low.data() : nullptr,
            .count = part.count,
            .masses = part.masses,
            .law = part.law,
            .epilogue = {.accelerations = part.stores ? accelerations.data() : nullptr,
                         .velocities = part.kicks ? velocities.data() : nullptr,
                         .kick_dt = part.kick_dt,
                         .drag = part.drag,
                         .accelerations_low = part.stores_low ? accelerations_low.data() : nullptr}};
  }
};

inline void put_handout(const Handout& handout, MessageWriter& message) {
  message.put_all(handout.with_all);
  message.put_all(handout.with_one);
  message.put(handout.exchanges);
}

inline Handout get_handout(MessageReader& message) {
  Handout handout;
  message.get_all(handout.with_all);
  message.get_all(handout.with_one);
  handout.exchanges = message.get<bool>();
  return handout;
}

/// Of the blocks that one rank gets.
struct SharedBytes {
  std::size_t with_all, with_one;
  std::size_t all() const { return with_all + with_one; }
};

inline SharedBytes bytes_of(const Handout& handout) {
  const auto sum = [](const std::vector<std::size_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  };
  return {sum(handout.with_all), sum(handout.with_one)};
}

/// A worker's replies to the orders of the leader.
class RankReply {
 public:
  /// `ranks` must outlive this.
  explicit RankReply(Communicator& ranks) : ranks_{ranks} {}

  /// Does the work, and replies with its outcome. `add` puts into message() what follows `done`.
  template <class Work, class Add>
  void after(const Work& work, const Add& add) {
    const auto report = [&](Outcome outcome, const char* why) {
      message_.clear();
      message_.put(outcome);
      message_.put_text(why);
    };
    try {
      work();
      message_.clear();
      message_.put(Outcome::done);
      add();
      ranks_.check_size(message_.bytes().size());
    } catch (const UsageError& error) {
      report(Outcome::refused, error.what());
    } catch (const Stopped& stopped) {
      report(Outcome::stopped, stopped.what());
    } catch (const std::bad_alloc&) {
      report(Outcome::failed, "not enough memory");
    } catch (const std::exception& error) {
      report(Outcome::failed, failure_text(error).c_str());
    }
    ranks_.send(0, message_.bytes());
  }
  template <class Work>
  void after(const Work& work) {
    after(work, [] {});
  }
  void say_that_part_ended() {
    message_.clear();
    message_.put(Outcome::part_ended);
    ranks_.send(0, message_.bytes());
  }
  MessageWriter& message() { return message_; }

 private:
  Communicator& ranks_;
  MessageWriter message_;
};

}  // namespace orrery
