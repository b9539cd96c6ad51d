#include "compute/devices/device_team.h"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/devices/device_list.h"
#include "compute/devices/nccl.h"
#include "compute/kernels/rank_device.h"

namespace orrery {
namespace {

/// Error like cuda::LostDeviceError, with a text that names the device.
struct LostMember final : std::runtime_error, DeviceLost {
  using runtime_error::runtime_error;
  Backend backend() const noexcept override { return Backend::cuda; }
};

/// Enables access of `device` to the memory of `other`. Returns whether this is possible.
bool can_read(const cuda::Device& device, const cuda::Device& other) {
  if (device.ordinal() == other.ordinal()) return true;
  int can = 0;
  ORRERY_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device.ordinal(), other.ordinal()));
  if (can == 0) return false;
  device.activate();
  const cudaError_t enabled = cudaDeviceEnablePeerAccess(other.ordinal(), 0);
  if (enabled == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();  // clears the error, which a later launch check would report
    return true;
  }
  if (enabled == cudaErrorTooManyPeers) {
    (void)cudaGetLastError();
    return false;  // copies between the two devices go through host memory
  }
  ORRERY_CUDA_CHECK(enabled);
  return true;
}

void require_alike(const cuda::Device& device, const cuda::Device& leader) {
  const cuda::DeviceInfo &its = device.info(), &first = leader.info();
  if (its.architecture() == first.architecture() && its.multiprocessors == first.multiprocessors) return;
  throw UsageError("all devices of a run must be of one model: device " + std::to_string(first.ordinal) + " is " +
                   first.name + ", device " + std::to_string(its.ordinal) + " is " + its.name +
                   "; choose equal ones with --devices");
}

}  // namespace

void on_device(const cuda::Device& device, const std::function<void()>& work) {
  const auto named = [&](const std::exception& failure) {
    return "device " + std::to_string(device.ordinal()) + ": " + failure.what();
  };
  try {
    device.activate();
    work();
  } catch (const UsageError& failure) {
    throw UsageError{named(failure)};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception& failure) {
    if (dynamic_cast<const DeviceLost*>(&failure)) throw LostMember{named(failure)};
    throw std::runtime_error{named(failure)};
  }
}

void copy_blocks(std::span<const DeviceBlock> from, const cuda::Device& from_device, std::span<const DeviceBlock> to,
                 const cuda::Device& to_device, cudaStream_t stream) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].bytes == 0) continue;
    ORRERY_CUDA_CHECK(cudaMemcpyPeerAsync(to[i].data, to_device.ordinal(), from[i].data, from_device.ordinal(),
                                          from[i].bytes, stream));
  }
}

void PeerCopies::send(std::span<const End> ends) {
  const cuda::Device& leader = *devices_.front();
  const ActiveAfterwards leads{leader};
  for (std::size_t i = 1; i < ends.size(); ++i) {
    on_device(*devices_[i],
              [&] { copy_blocks(ends.front().blocks, leader, ends[i].blocks, *devices_[i], ends[i].stream); });
  }
}

DeviceTeam::DeviceTeam(std::span<const int> ordinals) {
  for (const int ordinal : ordinals) {
    devices_.push_back(std::make_shared<const cuda::Device>(ordinal));
    require_alike(*devices_.back(), *leader());
  }
  for (const auto& device : devices_) {
    for (const auto& other : devices_) direct_ = can_read(*device, *other) && direct_;
  }
  const char* const wish = std::getenv("ORRERY_NCCL");
  by_nccl_ = wish && std::string_view{wish} == "1";
  broadcast_ = by_nccl_ ? nccl_broadcast(devices_) : std::make_unique<PeerCopies>(devices_);
  leader()->activate();
}

std::string DeviceTeam::words() const {
  DeviceList list;
  for (const auto& device : devices_) list.ordinals.push_back(device->ordinal());
  return "devices " + list.to_string() + (by_nccl_ ? " (" + broadcast_->name() + ")" : "") +
         (direct_ ? "" : " (copies through host memory)");
}

}  // namespace orrery
