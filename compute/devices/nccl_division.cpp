#include "compute/devices/nccl_division.h"

#include <cstddef>
#include <thread>

#include "compute/devices/on_device.h"
#include "compute/devices/staging.h"

namespace orrery {

/// Memory for results is taken before anything waits for another rank: the driver may wait for the device to give it.
/// What the kernel itself takes besides, it takes later.
std::vector<Handout> NcclDivision::share_out(const ForceArgs& args, std::span<const Part> parts) {
  with_all_ = division_.share_out(args, parts);
  with_one_.assign(parts.size(), {});
  places_.assign(parts.size(), {});
  std::vector<Handout> handouts(parts.size());
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    with_one_[rank] = division_.share_of(args, parts[rank]);
    places_[rank] = division_.places(args, parts[rank]);
    handouts[rank] = {
        .with_all = sizes_of(with_all_), .with_one = sizes_of(with_one_[rank]), .exchanges = division_.exchanges()};
  }
  return handouts;
}

void NcclDivision::evaluate(const ForceArgs& args, std::span<const Part> parts, JointWork& work) {
  const Part& own = parts.front();
  if (division_.works_alone()) return evaluate_alone(args, own);
  work.attempt([&] {
    connection_->broadcast(with_all_, args.stream);
    connection_->exchange(with_one_, BlocksByRank(parts.size()), args.stream);
    part_.begin(args, own);
  });
  if (division_.exchanges()) part_.exchange(args, work, *this);
  work.attempt([&] {
    part_.evaluate(args, own);
    connection_->exchange(BlocksByRank(parts.size()), places_, args.stream);
    ended_.record(args.stream);
  });
  require_end(work);
}

/// The others have no orders: nothing is sent.
void NcclDivision::evaluate_alone(const ForceArgs& args, const Part& own) {
  part_.begin(args, own);
  part_.evaluate(args, own);
  ended_.record(args.stream);
}

bool NcclDivision::reached(const cuda::OrderEvent& event) const {
  connection_->check();
  return event.reached();
}

/// The results are sent behind the end of the part: the leader takes them when its own part has ended.
void NcclDivision::evaluate_part(const ForceArgs& args, const Handout& handout, std::span<const Part> parts,
                                 const Part& own, JointWork& work) {
  on_device(device_, [&] {
    ForceArgs on_stream = args;
    on_stream.stream = stream_.get();
    work.attempt([&] {
      const Blocks places = division_.receive(on_stream, parts, blocks_of(handout));
      const std::span all{places};
      const auto with_one = all.subspan(handout.with_all.size());
      BlocksByRank from_leader(parts.size());
      from_leader.front().assign(with_one.begin(), with_one.end());
      connection_->broadcast(all.first(handout.with_all.size()), on_stream.stream);
      connection_->exchange(BlocksByRank(parts.size()), from_leader, on_stream.stream);
      part_.begin(on_stream, own);
    });
    if (handout.exchanges) part_.exchange(on_stream, work, *this);
    work.attempt([&] {
      part_.evaluate(on_stream, own);
      BlocksByRank to_leader(parts.size());
      to_leader.front() = division_.results(on_stream, own);
      connection_->exchange(to_leader, BlocksByRank(parts.size()), on_stream.stream);
      ended_.record(on_stream.stream);
    });
    require_end(work);
  });
  while (!part_ended()) {
    if (!work.goes_on()) throw Stopped{};
    std::this_thread::yield();
  }
}

/// The ranks tell each other the sizes, and then that they have the memory: from then on only the driver or NCCL can
/// fail. Whoever waits for data of that rank notices it, see wait().
void NcclDivision::exchange(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream) {
  BlocksByRank to, from(static_cast<std::size_t>(work.size()));
  work.attempt([&] {
    to = outgoing();
    work.for_each_other([&](int rank) { work.to(rank).put_all(sizes_of(to[static_cast<std::size_t>(rank)])); });
  });
  if (!work.exchange()) return;
  work.attempt([&] {
    work.for_each_other([&](int rank) {
      std::vector<std::size_t> sizes;
      MessageReader message = work.from(rank);
      message.get_all(sizes);
      from[static_cast<std::size_t>(rank)] = first_of(places(rank, sizes), sizes);
    });
    work.put_for_all(true);
  });
  if (!work.exchange()) return;
  work.attempt([&] {
    to[static_cast<std::size_t>(work.rank())].clear();
    connection_->exchange(to, from, stream);
  });
}

/// The hosts tell each other nothing.
bool NcclDivision::exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, JointWork& work,
                                  cudaStream_t stream) {
  work.attempt([&] { connection_->exchange(outgoing, incoming, stream); });
  return true;
}

/// What the stream waits for may never come. A rank that fails sends the empty message of the next exchange meanwhile.
void NcclDivision::wait(const JointWork& work, cudaStream_t stream) {
  come_.record(stream);
  while (!reached(come_)) {
    if (!work.goes_on() || work.others_stop()) throw Stopped{};
    std::this_thread::yield();
  }
}

}  // namespace orrery
