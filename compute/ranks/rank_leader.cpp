#include "compute/ranks/rank_leader.h"

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "compute/ranks/device_kernel.h"
#include "compute/ranks/domain_kernel.h"
#include "compute/ranks/shared_kernel.h"

namespace orrery {

int RankLeader::open_devices(const DevicesOfRanks& which) {
  const std::lock_guard lock{mutex_};
  return open(which);
}

int RankLeader::open(const DevicesOfRanks& which) {
  if (opened_ == which) return own_ordinal_;
  if (!device_) throw std::runtime_error("these ranks have no CUDA devices");
  opened_.reset();
  std::vector<RankDeviceFacts> facts(static_cast<std::size_t>(ranks()));
  line_.exchange(
      {.order =
           [&](int, MessageWriter& order) {
             order.put(Order::open_device);
             order.put(which.first);
             order.put_all(which.listed);
           },
       .own_part = [&] { facts.front() = device_->open(which, place_on_host_); },
       .take = [&](int rank,
                   MessageReader& reply) { facts[static_cast<std::size_t>(rank)] = reply.get<RankDeviceFacts>(); },
       .is_long = [](int) { return false; }});  // a driver takes its time
  check_devices(facts, which);
  opened_ = which;
  own_ordinal_ = facts.front().ordinal;
  return own_ordinal_;
}

std::unique_ptr<ForceKernel> RankLeader::make(const KernelInfo& kernel, const Settings& settings,
                                              const DevicesOfRanks& devices) {
  KernelInfo shared = kernel;
  shared.create = [&](const Settings& chosen, const cuda::Device*) -> std::unique_ptr<ForceKernel> {
    const int key = next_key_++;
    if (kernel.backend == Backend::cuda) {
      const std::lock_guard lock{mutex_};
      open(devices);
      return std::make_unique<DeviceKernel>(line_, key, kernel, chosen, *device_);
    }
    if (kernel.is_tree) return std::make_unique<DomainKernel>(line_, key, kernel, chosen);
    return std::make_unique<SharedKernel>(line_, key, kernel, chosen);
  };
  return shared.make(settings, nullptr);
}

}  // namespace orrery
