#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tests/compute/ranks/host_rank_kernel.h"

namespace orrery::test {

/// The kernel whose ranks can hold bodies.
inline constexpr const char* holding_kernel = "device-holding";

/// Simulates a host with `devices` devices, all alike. `opened`: device opened at each place. `nccl`: null if no rank
/// has it. All ranks are on one host.
class HostDevice final : public RankDevice {
 public:
  HostDevice(int devices, std::vector<std::atomic<int>>& opened, HostNccl* nccl)
      : devices_{devices}, opened_{opened}, nccl_{nccl} {}

  RankDeviceFacts open(const RankDeviceSelection& which, int place) override {
    const int ordinal = device_at(which, place, devices_);
    if (ordinal >= devices_) throw std::runtime_error("there is no such device");
    opened_[static_cast<std::size_t>(place)] = ordinal;
    rank_ = place;
    connection_.reset();
    return {.ordinal = ordinal, .uuid = {static_cast<unsigned char>(ordinal)}, .architecture = 90};
  }
  int nccl_version() override { return nccl_ ? nccl_->version(rank_) : 0; }
  ConnectionId new_connection() override { return {.bytes = {'7'}}; }
  void connect(const ConnectionId& id, int rank, int /*ranks*/) override {
    if (id.bytes.front() != '7') throw std::logic_error("this is not what the leader made");
    connection_ = std::make_shared<HostConnection>(*nccl_, rank);
  }
  void disconnect() noexcept override {
    if (connection_) connection_->abort();
    connection_.reset();
  }
  bool connected() const override { return connection_ && connection_->is_open(); }
  std::unique_ptr<RankKernel> make(const KernelInfo& kernel, const Settings& settings) override {
    return std::make_unique<HostRankKernel>(kernel.make(settings, nullptr), kernel.is_tree,
                                            std::string_view{kernel.id} == holding_kernel, connection_, nccl_);
  }

 private:
  int devices_;
  std::vector<std::atomic<int>>& opened_;
  HostNccl* nccl_;
  int rank_ = 0;
  std::shared_ptr<HostConnection> connection_;  // null: there is none
};

}  // namespace orrery::test
