#include "compute/devices/nccl_division.h"

#include <thread>

#include "compute/devices/on_device.h"

namespace orrery {

/// Memory for results is taken before anything waits for another rank: the driver may wait for the device to give it.
/// What the kernel itself takes besides, it takes later.
std::vector<std::size_t> NcclDivision::share_out(const ForceArgs& args, std::span<const Part> parts) {
  shared_ = division_.share_out(args, parts);
  places_.assign(1, {});
  for (const Part& part : parts.subspan(1)) places_.push_back(division_.places(args, part));
  std::vector<std::size_t> sizes;
  for (const DeviceBlock& block : shared_) sizes.push_back(block.bytes);
  return sizes;
}

void NcclDivision::evaluate(const ForceArgs& args, std::span<const Part> parts) {
  connection_->broadcast(shared_, args.stream);
  enqueue_part(args, parts.front());
  connection_->receive(places_, args.stream);
  ended_.record(args.stream);
}

bool NcclDivision::reached(const cuda::OrderEvent& event) const {
  connection_->check();
  return event.reached();
}

/// The results are sent behind the end of the part: the leader takes them when its own part has ended.
void NcclDivision::evaluate_part(const ForceArgs& args, std::span<const std::size_t> sizes, std::span<const Part> parts,
                                 const Part& own, const std::atomic<bool>& stopped) {
  on_device(device_, [&] {
    ForceArgs on_stream = args;
    on_stream.stream = stream_.get();
    Blocks shared;
    for (const std::size_t size : sizes) shared.push_back({.bytes = size});
    connection_->broadcast(division_.receive(on_stream, parts, shared), on_stream.stream);
    enqueue_part(on_stream, own);
    connection_->send(division_.results(on_stream, own), on_stream.stream);
    ended_.record(on_stream.stream);
  });
  while (!part_ended()) {
    if (stopped) throw Stopped{};
    std::this_thread::yield();
  }
}

/// Of a kernel whose parts need nothing of each other: why_not_shared() refuses others.
void NcclDivision::enqueue_part(const ForceArgs& args, const Part& part) {
  division_.begin_part(args, part);
  division_.evaluate_part(args, part);
  part_ended_.record(args.stream);
}

}  // namespace orrery
