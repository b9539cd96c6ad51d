#include "compute/devices/cuda_rank_device.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compute/cuda/event.h"
#include "compute/cuda/host_array.h"
#include "compute/cuda/stream.h"
#include "compute/devices/nccl.h"
#include "compute/devices/nccl_connection.h"
#include "compute/devices/nccl_division.h"
#include "compute/devices/on_device.h"
#include "compute/devices/target_division.h"

namespace orrery {
namespace {

std::size_t sum_of(std::span<const std::size_t> sizes) {
  std::size_t sum = 0;
  for (const std::size_t size : sizes) sum += size;
  return sum;
}

std::vector<std::size_t> sizes_of(std::span<const DeviceBlock> blocks) {
  std::vector<std::size_t> sizes;
  for (const DeviceBlock& block : blocks) sizes.push_back(block.bytes);
  return sizes;
}

/// Page-locked memory of the host that blocks of a device are copied to and from, one behind the other.
class Staging {
 public:
  explicit Staging(const cuda::Device& device) : device_{device} {}

  /// At least so many bytes; what was in it may be lost.
  std::span<std::byte> take(std::size_t bytes) {
    if (memory_.size() < bytes) {
      memory_ = {};  // free the old memory before taking the new
      memory_ = {device_, bytes, /*pinned=*/true};
    }
    return first(bytes);
  }
  std::span<std::byte> first(std::size_t bytes) const { return memory_.all().first(bytes); }

  void fill(std::span<const DeviceBlock> blocks, cudaStream_t stream) {
    std::byte* to = take(sum_of(sizes_of(blocks))).data();
    for (const DeviceBlock& block : blocks) {
      if (block.bytes == 0) continue;
      cuda::download(static_cast<const std::byte*>(block.data), std::span{to, block.bytes}, stream);
      to += block.bytes;
    }
  }
  void empty(std::span<const DeviceBlock> blocks, cudaStream_t stream) const {
    const std::byte* from = first(sum_of(sizes_of(blocks))).data();
    for (const DeviceBlock& block : blocks) {
      if (block.bytes == 0) continue;
      cuda::upload(std::span{from, block.bytes}, static_cast<std::byte*>(block.data), stream);
      from += block.bytes;
    }
  }

 private:
  const cuda::Device& device_;
  cuda::HostArray<std::byte> memory_;
};

class HostedKernel final : public HostedDivision {
 public:
  /// `connection`: with the devices of the other ranks; may be null.
  HostedKernel(std::shared_ptr<const cuda::Device> device, const KernelInfo& info, const Settings& settings,
               std::shared_ptr<NcclConnection> connection)
      : device_{std::move(device)}, kernel_{info.make(settings, device_.get())} {
    if (!info.divides) by_targets_ = std::make_unique<TargetDivision>(*kernel_, info.reads_low_words, *device_);
    if (connection) connected_.emplace(*device_, division(), stream_, std::move(connection));
  }
  HostedKernel(const HostedKernel&) = delete;
  HostedKernel& operator=(const HostedKernel&) = delete;
  /// Copies may still read and write the memory of this object. If another rank has failed, the connection was left
  /// before, which ends what this device waits for. If a rank was lost at another time, this may wait for ever, and the
  /// rank watch ends the process.
  ~HostedKernel() override {
    ORRERY_CUDA_WARN(cudaSetDevice(device_->ordinal()));
    ORRERY_CUDA_WARN(cudaDeviceSynchronize());
  }

  ForceKernel& kernel() override { return *kernel_; }
  ConnectedDivision* connected() override { return connected_ && connected_->is_open() ? &*connected_ : nullptr; }

  void prepare(int count, int index, int ranks) override {
    device_->activate();
    division().prepare_division(count, index, ranks);
    while (index == 0 && returned_.size() < static_cast<std::size_t>(ranks)) returned_.emplace_back(*device_);
  }

  Shared share_out(const ForceArgs& args, std::span<const Part> parts) override {
    const Blocks blocks = division().share_out(args, parts);
    shared_.fill(blocks, args.stream);
    is_shared_.record(args.stream);
    evaluate_part(args, parts.front());
    part_ended_.record(args.stream);
    is_shared_.synchronize();
    std::vector<std::size_t> sizes = sizes_of(blocks);
    const std::size_t bytes = sum_of(sizes);
    return {.sizes = std::move(sizes), .bytes = shared_.first(bytes)};
  }
  std::span<std::byte> place(const ForceArgs& args, const Part& part) override {
    joined_.synchronize();  // until then, copies of the evaluation before read that memory
    return returned(part).take(sum_of(sizes_of(division().places(args, part))));
  }
  void wait() override { part_ended_.synchronize(); }
  void join(const ForceArgs& args, std::span<const Part> parts) override {
    for (const Part& part : parts.subspan(1)) returned(part).empty(division().places(args, part), args.stream);
    division().join(args, parts);
    joined_.record(args.stream);
  }

  void take_room(std::size_t bytes) override { shared_.take(bytes); }
  std::span<std::byte> room(std::size_t bytes) override { return shared_.first(bytes); }
  std::span<const std::byte> evaluate(const ForceArgs& args, std::span<const std::size_t> sizes,
                                      std::span<const Part> parts, const Part& own) override {
    std::size_t bytes = 0;
    on_device(*device_, [&] {
      ForceArgs on_stream = args;
      on_stream.stream = stream_.get();
      Blocks shared;
      for (const std::size_t size : sizes) shared.push_back({.bytes = size});
      shared_.empty(division().receive(on_stream, parts, shared), on_stream.stream);
      evaluate_part(on_stream, own);
      const Blocks results = division().results(on_stream, own);
      results_.fill(results, on_stream.stream);
      bytes = sum_of(sizes_of(results));
      stream_.synchronize();
    });
    return results_.first(bytes);
  }

 private:
  using Blocks = DivisionFacet::Blocks;

  /// Of a kernel whose parts need nothing of each other: why_not_shared() refuses others.
  void evaluate_part(const ForceArgs& args, const Part& part) {
    division().begin_part(args, part);
    division().evaluate_part(args, part);
  }
  DivisionFacet& division() const { return by_targets_ ? *by_targets_ : *kernel_->division(); }
  Staging& returned(const Part& part) { return returned_[static_cast<std::size_t>(part.index)]; }

  const std::shared_ptr<const cuda::Device> device_;
  std::unique_ptr<ForceKernel> kernel_;
  std::unique_ptr<TargetDivision> by_targets_;  // null: the kernel divides itself
  Staging shared_{*device_};                    // what all other ranks need
  Staging results_{*device_};                   // of another rank than the leader
  std::vector<Staging> returned_;               // the leader: results of others, by rank
  cuda::Stream stream_{*device_};               // of another rank than the leader
  // Of the leader, in an evaluation: what others need is in host memory; its own part, and all, have ended.
  cuda::Event is_shared_{*device_}, part_ended_{*device_}, joined_{*device_};
  std::optional<NcclDivision> connected_;  // last: it uses the kernel
};

class CudaRankDevice final : public RankDevice {
 public:
  RankDeviceFacts open(const DevicesOfRanks& which, int place) override {
    connection_.reset();
    device_ = std::make_shared<const cuda::Device>(device_at(which, place, static_cast<int>(cuda::devices().size())));
    const cuda::DeviceInfo& info = device_->info();
    cudaDeviceProp properties{};
    ORRERY_CUDA_CHECK(cudaGetDeviceProperties(&properties, info.ordinal));
    RankDeviceFacts facts{
        .ordinal = info.ordinal, .architecture = info.architecture(), .multiprocessors = info.multiprocessors};
    std::ranges::copy(properties.uuid.bytes, facts.uuid.begin());
    return facts;
  }
  int nccl_version() override {
    try {
      if (!nccl_) nccl_ = std::make_shared<const Nccl>();
      return nccl_->version();
    } catch (const std::exception&) {  // few machines have it
      return 0;
    }
  }
  ConnectionId new_connection() override {
    ConnectionId id;
    nccl_->check(nccl_->make_id(&id), "ncclGetUniqueId");
    return id;
  }
  void connect(const ConnectionId& id, int rank, int ranks) override {
    connection_ = NcclConnection::make(nccl_, device_, id, rank, ranks);
  }
  void disconnect() noexcept override {
    if (connection_) connection_->abort();
    connection_.reset();
  }
  bool connected() const override { return connection_ && connection_->is_open(); }
  std::unique_ptr<HostedDivision> make(const KernelInfo& kernel, const Settings& settings) override {
    device_->activate();
    return std::make_unique<HostedKernel>(device_, kernel, settings, connection_);
  }

 private:
  std::shared_ptr<const cuda::Device> device_;
  std::shared_ptr<const Nccl> nccl_;            // null: not opened yet, or not there
  std::shared_ptr<NcclConnection> connection_;  // of that device; null: there is none
};

}  // namespace

std::unique_ptr<RankDevice> cuda_rank_device() {
  return std::make_unique<CudaRankDevice>();
}

}  // namespace orrery
