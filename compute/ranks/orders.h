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
#include "compute/core/threads.h"
#include "compute/core/vec.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/communicator.h"

namespace orrery {

/// The first value of each message from the leader to a worker.
enum class Order {
  open_device,        ///< DevicesOfRanks::first and all listed ordinals. Reply: RankDeviceFacts
  nccl_version,       ///< reply: RankDevice::nccl_version()
  connect,            ///< a ConnectionId. Replied
  disconnect,         ///< closes the connection that `connect` made
  disconnect_kernel,  ///< key of a CUDA kernel, whose connection closes
  make,               ///< key, id and settings (as text) of the kernel to make. Replied
  prepare,            ///< key, number of bodies. Replied
  evaluate,         ///< an Evaluation, the targets, and the velocities to kick; then a broadcast of all bodies. Replied
  evaluate_domain,  ///< input of DomainPart. Replied
  take_room,        ///< key of a CUDA kernel, number of bytes. Replied
  evaluate_part,    ///< a DividedEvaluation, a Handout, all parts; then, unless blocks go from device to device, the
                  ///< blocks for this rank, and a broadcast of the others. Replied; with `part_ended` before if blocks
                  ///< go from device to device
  prepare_held,  ///< key of a CUDA kernel, number of bodies it shall hold. Replied
  held,  ///< key of a CUDA kernel, a HeldHead, the HeldPasses since the previous order, and the data of HeldOrder.
         ///< Replied; for an evaluation, see evaluate_part
  bodies_replaced,  ///< key of a CUDA kernel
  cells,            ///< key of a CUDA kernel. Reply: output of HostedDivision::cells()
  spread,           ///< key of a kernel, some of its bodies as RankBodies reads them. Replied
  step,             ///< a StepOrder, id of the integrator as text. Reply: a Stepped
  undo,             ///< key of the kernel whose bodies go back by one step
  gather,           ///< key of a kernel, range of a piece of its bodies. Reply: the bodies as RankBodies writes them
  bounds,           ///< key of a kernel. Reply: BodyBounds
  write_rows,       ///< key of a kernel, number of its bodies on all ranks, JointRows. Replied
  hold_positions,   ///< key of a kernel, input of HeldPositions. Replied
  potentials,       ///< key of a kernel, a HeldPositions::Block; then a broadcast if the block says so. Reply: the
                    ///< potentials
  cancel,  ///< stops the order in progress; ignored if that has ended. For evaluate_part and held: another rank failed
  drop,    ///< key of the kernel to destroy
  end,     ///< serve_leader() returns. Replied
};

/// First value of each reply. The second is the text of the error, except after `done` and `part_ended`.
enum class Outcome {
  done,
  refused,  ///< a UsageError
  failed,
  stopped,     ///< see Stopped
  part_ended,  ///< the rank's part has ended, but not its sending. The order continues: another reply follows
};

/// A rank's part of an evaluation.
struct Evaluation {
  int key = 0;      ///< key of the kernel
  int count = 0;    ///< all bodies; only this rank's if each rank has a part of them
  int targets = 0;  ///< number of this rank's targets; may be 0
  bool lists_targets = true;
  bool jerks = false;      ///< JerkFacet::evaluate_jerks() of PreciseBody; otherwise ForceKernel::evaluate() of Vec4
  bool low_words = false;  ///< the bodies' low parts are broadcast as well
  MassRange masses{};
  Law law{};
  // Contents of the reply for each target, see Epilogue:
  bool stores = false, stores_low = false, kicks = false;
  float kick_dt = 0, drag = 0;
  Subnormals subnormals = Subnormals::kept;  ///< setting of the leader's thread
};

/// Evaluation that the ranks' CUDA devices divide. The reply is HostedDivision::part_ms(), followed by the output of
/// HostedDivision::evaluate() unless the data go from device to device.
struct DividedEvaluation {
  int key = 0;  ///< key of the kernel
  int count = 0;
  int targets = 0;  ///< on all ranks; 0: all bodies
  MassRange masses{};
  Law law{};
  bool connected = false;  ///< data go from device to device: see ConnectedDivision
};

/// Operations on the bodies that the ranks' CUDA devices hold; each is a function of HeldPart.
enum class HeldOrder {
  hold,
  check_finite,  ///< number of the pass
  evaluate,      ///< a HeldForce, all parts. Reply: HostedDivision::part_ms()
  collect,       ///< a HeldWanted
};

struct HeldHead {
  HeldOrder kind{};
  bool connected = false;  ///< see HeldPart
};

/// Evaluation of all bodies that the ranks hold.
struct HeldForce {
  int count = 0;   ///< on all ranks
  int rounds = 0;  ///< see HeldEvaluation
  MassRange masses{};
  Law law{};
};

/// One step of the bodies that the ranks hold.
struct StepOrder {
  int key = 0;  ///< key of the kernel
  float time_step = 0;
  Law law{};
  Subnormals subnormals = Subnormals::kept;  ///< setting of the leader's thread
};

/// A rank's result of a step.
struct Stepped {
  bool complete = false;  ///< false: a rank was cancelled or failed, and Order::undo follows
  int not_finite = -1;    ///< first of this rank's bodies that was not finite after a pass; -1: none
  int passes = 0;         ///< passes over the bodies so far
  int found_in = 0;       ///< pass that found `not_finite`
  int evaluations = 0;
  double force_ms = 0;  ///< all evaluations, including waiting for other ranks
  double by_tree = 0;   ///< pairs evaluated by a tree in all evaluations, see ForceArgs::evaluated
  // Figures of the last evaluation, see TreeReport:
  double vector_instructions = 0;
  std::int64_t interactions = 0, cells = 0;
  int depth = 0;
};

/// Begins the reply. Accelerations, their low parts and velocities, or pulls, follow.
struct Evaluated {
  bool complete = false;           ///< false: cancelled, and no entries follow
  std::uint64_t by_tree = 0;       ///< see ForceArgs::evaluated
  double vector_instructions = 0;  ///< for trees, see TreeReport
  std::int64_t cells = 0;          ///< cells of this rank's part of a tree
  int depth = 0;                   ///< depth of a tree
  double ms = 0;                   ///< time of the kernel without waiting for other ranks
};

/// A rank's copies of bodies for one evaluation, one entry per body. They never shrink, as several kernels may be in
/// use.
struct RankArrays {
  std::vector<Vec4> positions, positions_low, velocities, accelerations, accelerations_low;
  std::vector<PreciseBody> precise;
  std::vector<Pull> pulls;
  std::vector<int> targets;

  /// Makes room for `count` bodies.
  void prepare(int count, bool low_words = false, bool jerks = false) {
    const auto size = static_cast<std::size_t>(count);
    const auto grow = [&](auto& array) { array.resize(std::max(array.size(), size)); };
    grow(positions), grow(velocities), grow(accelerations), grow(targets);
    if (low_words) grow(positions_low), grow(accelerations_low);
    if (jerks) grow(precise), grow(pulls);
  }

  /// Returns arguments, without targets, for a part whose bodies are in these arrays.
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

/// Sizes of the blocks that one rank gets.
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

  /// Does the work and replies with its outcome. `add` writes the data after `done` to message().
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
