#include "compute/devices/nccl_connection.h"

#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include "compute/core/start_thread.h"
#include "compute/cuda/device_array.h"
#include "compute/cuda/stream.h"

namespace orrery {

NcclConnection::NcclConnection(std::shared_ptr<const Nccl> nccl, const cuda::Device& device, const ConnectionId& id,
                               int rank, int ranks)
    : nccl_{std::move(nccl)} {
  const cuda::Stream stream{device};
  const cuda::DeviceArray<std::byte> bytes{device, static_cast<std::size_t>(ranks)};  // one for each rank
  nccl_->check(nccl_->connect(&communicator_, ranks, id, rank), "ncclCommInitRank");
  try {
    try_out({bytes.data(), bytes.size()}, rank, stream);
  } catch (...) {
    abort();  // otherwise the device might wait for ever, and whoever gives its memory back for the device
    throw;
  }
}

NcclConnection::~NcclConnection() {
  constexpr std::chrono::milliseconds longest{1500};  // half of RankWatch's surrender
  leave(nccl_->destroy);
  if (left_.valid()) (void)left_.wait_for(longest);
}

/// NCCL makes ways between two devices when they are first used, and the host then waits for the other rank. Afterwards
/// it no longer does.
void NcclConnection::try_out(std::span<std::byte> bytes, int rank, const cuda::Stream& stream) {
  std::vector<Blocks> places;
  for (std::byte& byte : bytes) places.push_back({{&byte, 1}});
  broadcast(places.front(), stream.get());
  if (rank == 0) {
    receive(places, stream.get());
  } else {
    send(places.front(), stream.get());
  }
  stream.synchronize();
  check();
}

bool NcclConnection::is_open() const {
  const std::lock_guard lock{mutex_};
  return communicator_ != nullptr;
}

void NcclConnection::require_open() const {
  if (!communicator_) throw std::runtime_error("the connection by NCCL is lost");
}

void NcclConnection::check() const {
  const std::lock_guard lock{mutex_};
  require_open();
  NcclResult met = nccl_success;
  nccl_->check(nccl_->find_error(communicator_, &met), "ncclCommGetAsyncError");
  nccl_->check(met, "NCCL");
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

void NcclConnection::send(std::span<const DeviceBlock> blocks, cudaStream_t stream) {
  const std::lock_guard lock{mutex_};
  require_open();
  NcclGroup group{*nccl_};
  for (const DeviceBlock& block : blocks) {
    if (block.bytes == 0) continue;
    nccl_->check(nccl_->send(block.data, block.bytes, nccl_bytes, /*to_rank=*/0, communicator_, stream), "ncclSend");
  }
  group.end();
}

void NcclConnection::receive(std::span<const Blocks> places, cudaStream_t stream) {
  const std::lock_guard lock{mutex_};
  require_open();
  NcclGroup group{*nccl_};
  for (std::size_t rank = 1; rank < places.size(); ++rank) {
    for (const DeviceBlock& block : places[rank]) {
      if (block.bytes == 0) continue;
      nccl_->check(nccl_->receive(block.data, block.bytes, nccl_bytes, static_cast<int>(rank), communicator_, stream),
                   "ncclRecv");
    }
  }
  group.end();
}

void NcclConnection::abort() noexcept {
  leave(nccl_->abort);
}

/// On a thread of its own: before NCCL gives the memory back that others may use, it waits for all ranks of this host
/// to leave, and one that is lost never does. ncclCommAbort first tells the device to end what it waits for.
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
  } catch (const std::exception&) {  // no thread can be started: the communicator stays until the process ends
    left_ = {};
  }
}

}  // namespace orrery
