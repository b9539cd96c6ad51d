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
  work.attempt([&] {
    connection_->broadcast(with_all_, args.stream);
    connection_->exchange(with_one_, BlocksByRank(parts.size()), args.stream);
    part_.begin(args, own);
  });
  if (division_.exchanges()) exchange_offers(args, parts, own, work);
  work.attempt([&] {
    part_.evaluate(args, own);
    connection_->exchange(BlocksByRank(parts.size()), places_, args.stream);
    ended_.record(args.stream);
  });
  require_end(work);
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
    if (handout.exchanges) exchange_offers(on_stream, parts, own, work);
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

/// The ranks tell each other the sizes first: a receiver has to know them.
void NcclDivision::exchange_offers(const ForceArgs& args, std::span<const Part> parts, const Part& own,
                                   JointWork& work) {
  Blocks offer;
  work.attempt([&] {
    offer = division_.offer(args, own);
    work.put_all_for_all(sizes_of(offer));
  });
  if (!work.exchange()) return;
  work.attempt([&] {
    BlocksByRank outgoing(parts.size()), incoming(parts.size());
    work.for_each_other([&](int rank) {
      const auto other = static_cast<std::size_t>(rank);
      std::vector<std::size_t> sizes;
      MessageReader message = work.from(rank);
      message.get_all(sizes);
      outgoing[other] = offer;
      incoming[other] = first_of(division_.places_of_offer(args, parts[other]), sizes);
    });
    connection_->exchange(outgoing, incoming, args.stream);
  });
}

}  // namespace orrery
