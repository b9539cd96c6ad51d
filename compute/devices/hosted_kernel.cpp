#include "compute/devices/hosted_kernel.h"

#include <utility>

#include "compute/devices/on_device.h"

namespace orrery {

HostedKernel::HostedKernel(std::shared_ptr<const cuda::Device> device, const KernelInfo& info, const Settings& settings,
                           std::shared_ptr<NcclConnection> connection)
    : device_{std::move(device)},
      kernel_{info.make(settings, device_.get())},
      by_targets_{info.divides ? nullptr : std::make_unique<TargetDivision>(*kernel_, info.reads_low_words, *device_)} {
  shared_.emplace_back(*device_);
  if (connection) connected_.emplace(*device_, part_, stream_, std::move(connection));
  if (!dynamic_cast<ShipmentFacet*>(&division())) return;
  residents_.emplace(*device_, part_, stream_.get(), [this](bool connected) -> BlockExchange& {
    if (!connected) return *this;
    if (!connected_) throw Stopped{"there is no connection"};
    return *connected_;
  });
}

HostedKernel::~HostedKernel() {
  ORRERY_CUDA_WARN(cudaSetDevice(device_->ordinal()));
  ORRERY_CUDA_WARN(cudaDeviceSynchronize());
}

void HostedKernel::prepare(int count, int index, int ranks) {
  device_->activate();
  owners_.forget();
  if (residents_) residents_->forget();
  part_.prepare(count, index, ranks);
  const auto all = static_cast<std::size_t>(ranks);
  while (index == 0 && returned_.size() < all) returned_.emplace_back(*device_);
  while (index == 0 && shared_.size() < all) shared_.emplace_back(*device_);
}

std::vector<Handout> HostedKernel::share_out(const ForceArgs& args, std::span<const Part> parts) {
  const Blocks for_all = division().share_out(args, parts);
  with_all_ = shared_.front().fill(for_all, args.stream);
  with_one_.assign(parts.size(), {});
  std::vector<Handout> handouts(parts.size());
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    const Blocks for_one = division().share_of(args, parts[rank]);
    with_one_[rank] = shared_[rank].fill(for_one, args.stream);
    handouts[rank] = {
        .with_all = sizes_of(for_all), .with_one = sizes_of(for_one), .exchanges = division().exchanges()};
  }
  is_shared_.record(args.stream);
  part_.begin(args, parts.front());
  if (!division().exchanges()) part_.evaluate(args, parts.front());
  is_shared_.synchronize();
  return handouts;
}

std::span<std::byte> HostedKernel::place(const ForceArgs& args, const Part& part) {
  joined_.synchronize();  // until then, copies of the evaluation before read that memory
  return returned_[static_cast<std::size_t>(part.index)].take(sum_of(sizes_of(division().places(args, part))));
}

void HostedKernel::end_part(const ForceArgs& args, std::span<const Part> parts, JointWork& work) {
  if (division().exchanges()) {
    part_.exchange(args, work, *this);
    work.attempt([&] { part_.evaluate(args, parts.front()); });
    require_end(work);
  }
  part_.end().synchronize();
}

void HostedKernel::join(const ForceArgs& args, std::span<const Part> parts) {
  for (const Part& part : parts.subspan(1)) {
    returned_[static_cast<std::size_t>(part.index)].empty(division().places(args, part), args.stream);
  }
  division().join(args, parts);
  joined_.record(args.stream);
}

std::span<const std::byte> HostedKernel::evaluate(const ForceArgs& args, const Handout& handout,
                                                  std::span<const Part> parts, const Part& own, JointWork& work) {
  std::span<const std::byte> found;
  on_device(*device_, [&] {
    ForceArgs on_stream = args;
    on_stream.stream = stream_.get();
    work.attempt([&] {
      const Blocks places = division().receive(on_stream, parts, blocks_of(handout));
      shared_.front().empty(places, on_stream.stream);
      part_.begin(on_stream, own);
    });
    if (handout.exchanges) part_.exchange(on_stream, work, *this);
    work.attempt([&] {
      part_.evaluate(on_stream, own);
      found = given_.fill(division().results(on_stream, own), on_stream.stream);
      stream_.synchronize();
    });
    require_end(work);
  });
  return found;
}

bool HostedKernel::exchange_all(const Outgoing& outgoing, const Places& places, JointWork& work, cudaStream_t stream) {
  work.attempt([&] {
    const BlocksByRank to = outgoing();
    work.for_each_other([&](int rank) { give_blocks(to[static_cast<std::size_t>(rank)], work.to(rank), stream); });
  });
  if (!work.exchange()) return false;
  work.attempt([&] {
    work.for_each_other([&](int rank) {
      MessageReader message = work.from(rank);
      take_blocks(message, rank, places, stream);
    });
  });
  return true;
}

bool HostedKernel::exchange_known(const BlocksByRank& outgoing, const BlocksByRank& incoming, JointWork& work,
                                  cudaStream_t stream) {
  return exchange_all(
      [&] { return outgoing; },
      [&](int rank, std::span<const std::size_t> /*sizes*/) { return incoming[static_cast<std::size_t>(rank)]; }, work,
      stream);
}

void HostedKernel::give_blocks(std::span<const DeviceBlock> blocks, MessageWriter& message, cudaStream_t stream) {
  const std::span<const std::byte> bytes = given_.fill(blocks, stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
  message.put_all(sizes_of(blocks));
  message.put_values(bytes);
}

/// Copies of an exchange before have ended: otherwise, these would have other bytes.
void HostedKernel::take_blocks(MessageReader& message, int rank, const Places& places, cudaStream_t stream) {
  std::vector<std::size_t> sizes;
  message.get_all(sizes);
  while (taken_.size() <= static_cast<std::size_t>(rank)) taken_.emplace_back(*device_);
  Staging& staging = taken_[static_cast<std::size_t>(rank)];
  message.get_values(staging.take(sum_of(sizes)));
  staging.empty(first_of(places(rank, sizes), sizes), stream);
}

void HostedKernel::read_owners(int count, const int* d_owners, CUstream_st* stream) {
  const int* const found = d_owners ? d_owners : division().find_owners(count, stream);
  if (found) owners_.read(found, count, stream);
}

MessageWriter HostedKernel::cells(int index) {
  MessageWriter message;
  on_device(*device_, [&] { give_blocks(division().cells(index), message, stream_.get()); });
  return message;
}

void HostedKernel::place_cells(int index, MessageReader& cells, CUstream_st* stream) {
  const auto places = [&](int rank, std::span<const std::size_t> /*sizes*/) {
    return division().places_of_cells(rank);
  };
  take_blocks(cells, index, places, stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));  // the next exchange has the same memory
}

}  // namespace orrery
