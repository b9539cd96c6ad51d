#include "compute/devices/nccl.h"

#include <dlfcn.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "compute/core/threads.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/cuda/library_functions.h"
#include "compute/devices/device_list.h"
#include "compute/devices/device_team.h"

namespace orrery {
namespace {

Stopped not_in_time() {
  return Stopped{"NCCL did not connect within " + std::to_string(connect_limit.count()) + " s"};
}

/// Guard for a group of NCCL calls, which end() launches together. If an exception prevents end(), the destructor ends
/// the group: otherwise, later calls of this thread would join it.
class NcclGroup {
 public:
  /// `who`: prefix of error messages, which names the devices.
  explicit NcclGroup(const Nccl& nccl, std::string who = {}) : nccl_{nccl}, who_{std::move(who)} {
    nccl_.check(nccl_.begin_group(), who_ + "ncclGroupStart");
  }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  ~NcclGroup() {
    if (open_) (void)nccl_.end_group();
  }

  void end() {
    open_ = false;
    nccl_.check(nccl_.end_group(), who_ + "ncclGroupEnd");
  }

 private:
  const Nccl& nccl_;
  std::string who_;
  bool open_ = true;
};

/// Broadcast by NCCL between the devices of one process.
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
  std::string all_;                             // prefix of error messages, such as "devices 0,1: "
  std::vector<NcclCommunicator*> connections_;  // one entry per device
};

}  // namespace

Nccl::Nccl() {
  // Disables NVLink multicast (NVLS), which only speeds up reductions. Its setup takes memory, and a fault in the setup
  // affects the whole host.
  setenv("NCCL_NVLS_ENABLE", "0", /*replace=*/0);
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw std::runtime_error(std::string{"NCCL cannot be opened: "} + dlerror() +
                             "; install libnccl.so.2, or unset ORRERY_NCCL");
  const cuda::LibraryFunctions functions{library, "NCCL"};
  functions.find(error_text, "ncclGetErrorString");
  functions.find(get_version, "ncclGetVersion");
  functions.find(connect_all, "ncclCommInitAll");
  functions.find(make_id, "ncclGetUniqueId");
  functions.find(connect, "ncclCommInitRank");
  functions.find(destroy, "ncclCommDestroy");
  functions.find(abort, "ncclCommAbort");
  functions.find(find_error, "ncclCommGetAsyncError");
  functions.find(begin_group, "ncclGroupStart");
  functions.find(end_group, "ncclGroupEnd");
  functions.find(broadcast, "ncclBroadcast");
  functions.find(send, "ncclSend");
  functions.find(receive, "ncclRecv");
}

void Nccl::check(NcclResult result, const std::string& call) const {
  if (result != nccl_success) throw std::runtime_error(call + ": " + error_text(result));
}

int Nccl::version() const {
  int version = 0;
  check(get_version(&version), "ncclGetVersion");
  return version;
}

std::shared_ptr<NcclConnection> NcclConnection::make(std::shared_ptr<const Nccl> nccl,
                                                     std::shared_ptr<const cuda::Device> device, const ConnectionId& id,
                                                     int rank, int ranks) {
  using Made = std::shared_ptr<NcclConnection>;
  const std::optional<Made> made = result_within<Made>(
      connect_limit, [=] { return std::make_shared<NcclConnection>(nccl, *device, id, rank, ranks); },
      [](Made& unwanted) { unwanted->abort(); });
  if (!made) throw not_in_time();
  return *made;
}

NcclConnection::NcclConnection(std::shared_ptr<const Nccl> nccl, const cuda::Device& device, const ConnectionId& id,
                               int rank, int ranks)
    : nccl_{std::move(nccl)} {
  const auto deadline = std::chrono::steady_clock::now() + connect_limit;
  const cuda::Stream stream{device};
  const cuda::OrderEvent ended{device};
  const cuda::DeviceArray<unsigned> words{device, static_cast<std::size_t>(ranks)};  // one entry per rank
  nccl_->check(nccl_->connect(&communicator_, ranks, id, rank), "ncclCommInitRank");
  const auto wait = [&] {
    ended.record(stream.get());
    while (check(), !ended.reached()) {
      if (std::chrono::steady_clock::now() > deadline) throw not_in_time();
      std::this_thread::yield();
    }
  };
  try {
    try_out({words.data(), words.size()}, rank, stream.get(), wait);
  } catch (...) {
    abort();  // otherwise, the device and later frees of its memory might block forever
    throw;
  }
}

NcclConnection::~NcclConnection() {
  constexpr std::chrono::milliseconds longest{1500};  // half of RankWatch::Limits::surrender
  leave(nccl_->destroy);
  if (left_.valid()) (void)left_.wait_for(longest);
}

/// Tests the connection by a broadcast and an exchange. NCCL sets up the route between two devices at their first
/// transfer, and may block the host until the other rank takes part. The host waits for each transfer before it starts
/// the next: if it blocks forever, the device has no unfinished work.
void NcclConnection::try_out(std::span<unsigned> words, int rank, cudaStream_t stream,
                             const std::function<void()>& wait) {
  std::vector<Blocks> outgoing(words.size()), incoming(words.size());
  const auto own = static_cast<std::size_t>(rank);
  for (std::size_t other = 0; other < words.size(); ++other) {
    if (other == own) continue;
    outgoing[other] = {{&words[own], sizeof(unsigned)}};
    incoming[other] = {{&words[other], sizeof(unsigned)}};
  }
  const DeviceBlock first{&words[0], sizeof(unsigned)};
  broadcast(std::span{&first, 1}, stream);
  wait();
  exchange(outgoing, incoming, stream);
  wait();
}

bool NcclConnection::is_open() const {
  const std::lock_guard lock{mutex_};
  return communicator_ != nullptr;
}

void NcclConnection::require_open() const {
  if (!communicator_) throw Stopped{"the NCCL connection is lost"};
}

void NcclConnection::check() const {
  const std::lock_guard lock{mutex_};
  require_open();
  NcclResult met = nccl_success;
  nccl_->check(nccl_->find_error(communicator_, &met), "ncclCommGetAsyncError");
  if (met != nccl_success) throw Stopped{std::string{"NCCL: "} + nccl_->error_text(met)};
}

void NcclConnection::broadcast(std::span<const DeviceBlock> blocks, cudaStream_t stream) {
  const std::lock_guard lock{mutex_};
  require_open();
  NcclGroup group{*nccl_};
  for (const DeviceBlock& block : blocks) {
    if (block.bytes == 0) continue;
    nccl_->check(nccl_->broadcast(block.data, block.data, block.bytes, nccl_bytes, /*root=*/0, communicator_, stream),
                 "ncclBroadcast");
  }
  group.end();
}

void NcclConnection::exchange(std::span<const Blocks> outgoing, std::span<const Blocks> incoming, cudaStream_t stream) {
  const std::lock_guard lock{mutex_};
  require_open();
  NcclGroup group{*nccl_};
  const auto for_each = [&](std::span<const Blocks> all, const auto& use) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      for (const DeviceBlock& block : all[rank]) {
        if (block.bytes > 0) use(block, static_cast<int>(rank));
      }
    }
  };
  for_each(outgoing, [&](const DeviceBlock& block, int to) {
    nccl_->check(nccl_->send(block.data, block.bytes, nccl_bytes, to, communicator_, stream), "ncclSend");
  });
  for_each(incoming, [&](const DeviceBlock& block, int from) {
    nccl_->check(nccl_->receive(block.data, block.bytes, nccl_bytes, from, communicator_, stream), "ncclRecv");
  });
  group.end();
}

void NcclConnection::abort() noexcept {
  leave(nccl_->abort);
}

/// Calls ncclCommDestroy or ncclCommAbort on a separate thread. Both wait until all ranks of this host have left, and a
/// lost rank never leaves. ncclCommAbort first aborts the operations on the device.
void NcclConnection::leave(NcclResult (*how)(NcclCommunicator*)) noexcept {
  const std::lock_guard lock{mutex_};
  NcclCommunicator* const left = std::exchange(communicator_, nullptr);
  if (!left) return;
  try {
    std::promise<void> promise;
    left_ = promise.get_future();
    start_thread([nccl = nccl_, left, how, promise = std::move(promise)](const std::stop_token&) mutable {
      (void)how(left);
      promise.set_value();
    }).detach();
  } catch (const std::exception&) {  // no thread: the communicator stays until the process ends
    left_ = {};
  }
}

std::unique_ptr<Broadcast> nccl_broadcast(const TeamDevices& devices) {
  return std::make_unique<NcclBroadcast>(devices);
}

}  // namespace orrery
