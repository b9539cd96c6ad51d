#include "compute/devices/nccl_connection.h"

#include <chrono>
#include <cstddef>
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
#include "compute/cuda/stream.h"

namespace orrery {
namespace {

Stopped not_in_time() {
  return Stopped{"NCCL did not connect within " + std::to_string(connect_limit.count()) + " s"};
}

}  // namespace

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
  const cuda::DeviceArray<unsigned> words{device, static_cast<std::size_t>(ranks)};  // one for each rank
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
/// it no longer does. The device has ended one step when the next one begins: should the host then wait for ever, the
/// device does not.
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
  if (!communicator_) throw Stopped{"the connection by NCCL is lost"};
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
