#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "compute/cuda/library_functions.h"
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
  Nccl() {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(std::string{"NCCL cannot be opened: "} + dlerror());
    const cuda::LibraryFunctions functions{library, "NCCL"};
    functions.find(error_text, "ncclGetErrorString");
    functions.find(version, "ncclGetVersion");
    functions.find(connect_all, "ncclCommInitAll");
    functions.find(destroy, "ncclCommDestroy");
    functions.find(begin_group, "ncclGroupStart");
    functions.find(end_group, "ncclGroupEnd");
    functions.find(broadcast, "ncclBroadcast");
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
};

/// NCCL launches the calls of a group together at its end. A group that an exception leaves ends as well: the thread's
/// later calls would belong to it.
class NcclGroup {
 public:
  /// `all` names the devices in messages.
  NcclGroup(const Nccl& nccl, const std::string& all) : nccl_{nccl}, all_{all} {
    nccl_.check(nccl_.begin_group(), all_ + "ncclGroupStart");
  }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  ~NcclGroup() {
    if (open_) (void)nccl_.end_group();
  }

  void end() {
    open_ = false;
    nccl_.check(nccl_.end_group(), all_ + "ncclGroupEnd");
  }

 private:
  const Nccl& nccl_;
  const std::string& all_;
  bool open_ = true;
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
