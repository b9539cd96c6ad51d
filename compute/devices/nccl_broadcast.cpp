#include "compute/devices/broadcast.h"
#include "compute/devices/device_list.h"
#include "compute/devices/nccl.h"
#include "compute/devices/on_device.h"

namespace orrery {
namespace {

class NcclBroadcast final : public Broadcast {
 public:
  explicit NcclBroadcast(const TeamDevices& devices) : devices_{devices}, connections_(devices.size()) {
    DeviceList list;
    for (const auto& device : devices) list.ordinals.push_back(device->ordinal());
    all_ = "devices " + list.to_string() + ": ";
    nccl_.check(nccl_.connect_all(connections_.data(), static_cast<int>(list.ordinals.size()), list.ordinals.data()),
                all_ + "ncclCommInitAll");
    devices_.front()->activate();
  }
  NcclBroadcast(const NcclBroadcast&) = delete;
  NcclBroadcast& operator=(const NcclBroadcast&) = delete;
  ~NcclBroadcast() override {
    for (NcclCommunicator* each : connections_) (void)nccl_.destroy(each);
  }

  void send(std::span<const End> ends) override {
    const ActiveAfterwards leads{*devices_.front()};
    const std::vector<DeviceBlock>& from = ends.front().blocks;
    NcclGroup group{nccl_, all_};
    for (std::size_t k = 0; k < from.size(); ++k) {
      if (from[k].bytes == 0) continue;
      for (std::size_t i = 0; i < ends.size(); ++i) {
        on_device(*devices_[i], [&] {
          nccl_.check(nccl_.broadcast(from[k].data, ends[i].blocks[k].data, from[k].bytes, nccl_bytes, /*root=*/0,
                                      connections_[i], ends[i].stream),
                      "ncclBroadcast");
        });
      }
    }
    group.end();
  }

  std::string name() const override { return nccl_text(nccl_.version()); }

 private:
  Nccl nccl_;
  const TeamDevices& devices_;
  std::string all_;                             // "devices 0,1: "
  std::vector<NcclCommunicator*> connections_;  // by device
};

}  // namespace

std::unique_ptr<Broadcast> nccl_broadcast(const TeamDevices& devices) {
  return std::make_unique<NcclBroadcast>(devices);
}

}  // namespace orrery
