#include "compute/devices/cuda_rank_device.h"

#include <algorithm>
#include <exception>
#include <memory>

#include "compute/devices/hosted_kernel.h"
#include "compute/devices/nccl.h"
#include "compute/devices/nccl_connection.h"

namespace orrery {
namespace {

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
