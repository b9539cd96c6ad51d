#include "compute/ranks/rank_leader.h"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/ranks/cpu_kernels.h"

namespace orrery {

int RankLeader::open_devices(const RankDeviceSelection& which) {
  const std::lock_guard lock{mutex_};
  return open(which);
}

int RankLeader::open(const RankDeviceSelection& which) {
  if (opened_ == which) return own_ordinal_;
  if (!device_) throw std::runtime_error("these ranks have no CUDA devices");
  opened_.reset();
  transport_.reset();
  std::vector<RankDeviceFacts> facts(static_cast<std::size_t>(ranks()));
  channel_.exchange(
      {.order =
           [&](int, MessageWriter& order) {
             order.put(Order::open_device);
             order.put(which.first);
             order.put_all(which.listed);
           },
       .own_part = [&] { facts.front() = device_->open(which, place_on_host_); },
       .on_reply = [&](int rank,
                       MessageReader& reply) { facts[static_cast<std::size_t>(rank)] = reply.get<RankDeviceFacts>(); },
       .is_long = [](int) { return false; }});  // no limit for others: a driver may be slow
  check_devices(facts, which);
  opened_ = which;
  own_ordinal_ = facts.front().ordinal;
  facts_ = std::move(facts);
  return own_ordinal_;
}

std::vector<int> RankLeader::nccl_versions() {
  std::vector<int> versions(facts_.size());
  channel_.exchange(
      {.order = [](int, MessageWriter& order) { order.put(Order::nccl_version); },
       .own_part = [&] { versions.front() = device_->nccl_version(); },
       .on_reply = [&](int rank, MessageReader& reply) { versions[static_cast<std::size_t>(rank)] = reply.get<int>(); },
       .is_long = [](int) { return false; }});  // no limit for others: a file system may be slow
  return versions;
}

/// Chooses the transport for all ranks: NCCL if every rank can connect, otherwise MPI.
Transport RankLeader::connect() {
  const auto by_mpi = [](const std::string& why) { return Transport{.text = "MPI (" + why + ")"}; };
  const char* const wish = std::getenv("ORRERY_NCCL");
  if (wish && std::string_view{wish} == "0") return by_mpi("ORRERY_NCCL=0");
  const std::vector<int> versions = nccl_versions();
  if (const std::string why = why_not_connected(facts_, versions); !why.empty()) return by_mpi(why);
  try {
    const ConnectionId id = device_->new_connection();
    channel_.exchange({.order =
                           [&](int, MessageWriter& order) {
                             order.put(Order::connect);
                             order.put(id);
                           },
                       .own_part = [&] { device_->connect(id, 0, ranks()); },
                       .is_long = [](int) { return false; },  // connect_limit applies instead
                       .after_failure =
                           [&](MessageWriter& order) {
                             device_->disconnect();
                             order.put(Order::disconnect);
                           }});
  } catch (const std::exception& failure) {
    return by_mpi(failure_text(failure));
  }
  return {.text = nccl_text(versions.front()), .connected = true};
}

std::string RankLeader::transport() const {
  const std::lock_guard lock{mutex_};
  return transport_ ? transport_->to_string(device_->connected()) : "";
}

std::unique_ptr<ForceKernel> RankLeader::make(const KernelInfo& kernel, const Settings& settings,
                                              const RankDeviceSelection& devices) {
  KernelInfo shared = kernel;
  shared.create = [&](const Settings& chosen, const cuda::Device*) -> std::unique_ptr<ForceKernel> {
    const int key = next_key_++;
    if (kernel.backend == Backend::cuda) {
      const std::lock_guard lock{mutex_};
      open(devices);
      if (!transport_ || (transport_->connected && !device_->connected())) transport_ = connect();
      return leader_cuda_kernel(channel_, key, kernel, chosen, *device_, *transport_);
    }
    return leader_cpu_kernel(channel_, key, kernel, chosen);
  };
  return shared.make(settings, nullptr);
}

}  // namespace orrery
