#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "compute/devices/broadcast.h"
#include "compute/devices/device_list.h"
#include "compute/devices/on_device.h"

namespace orrery {

struct NcclCommunicator;  // what NCCL's ncclComm_t points to

namespace {

// NCCL's ncclResult_t and ncclDataType_t.
using NcclResult = int;
constexpr NcclResult nccl_success = 0;
constexpr int nccl_bytes = 0;

/// The functions of libnccl, which is opened at run time: few machines have it. It stays open until the process ends.
class Nccl {
 public:
  /// Throws std::runtime_error that names what is missing.
  Nccl() : library_{dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL)} {
    if (!library_) throw std::runtime_error(std::string{"NCCL cannot be opened: "} + dlerror());
    find(error_text, "ncclGetErrorString");
    find(version, "ncclGetVersion");
    find(connect_all, "ncclCommInitAll");
    find(destroy, "ncclCommDestroy");
    find(begin_group, "ncclGroupStart");
    find(end_group, "ncclGroupEnd");
    find(broadcast, "ncclBroadcast");
  }

  void check(NcclResult result, const std::string& call) const {
    if (result != nccl_success) throw std::runtime_error(call + ": " + error_text(result));
  }

  const char* (*error_text)(NcclResult);
  NcclResult (*version)(int*);
  NcclResult (*connect_all)(NcclCommunicator**, int count, const int* ordinals);
  NcclResult (*destroy)(NcclCommunicator*);
  NcclResult (*begin_group)();
  NcclResult (*end_group)();
  NcclResult (*broadcast)(const void* from, void* to, std::size_t count, int type, int root, NcclCommunicator*,
                          cudaStream_t);

 private:
  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function) throw std::runtime_error(std::string{"NCCL has no function "} + name);
  }

  void* library_;
};

class NcclBroadcast final : public Broadcast {
 public:
  explicit NcclBroadcast(const TeamDevices& devices) : devices_{devices}, connections_(devices.size()) {
    // NVLink multicast is for sums over all devices. Preparing it takes memory, and a fault in it the whole host.
    setenv("NCCL_NVLS_ENABLE", "0", /*replace=*/0);
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
    nccl_.check(nccl_.begin_group(), all_ + "ncclGroupStart");
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
    nccl_.check(nccl_.end_group(), all_ + "ncclGroupEnd");
  }

  std::string name() const override {
    int version = 0;  // 2.27.3 is 22703
    nccl_.check(nccl_.version(&version), "ncclGetVersion");
    return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
  }

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
