#include "compute/kernels/rank_device.h"

#include <string>

#include "compute/core/error.h"

namespace orrery {
namespace {

std::string device_text(std::size_t rank, const RankDeviceFacts& facts) {
  return "that of rank " + std::to_string(rank) + " is sm_" + std::to_string(facts.architecture) + " with " +
         std::to_string(facts.multiprocessors) + " multiprocessors";
}

UsageError unlike(std::size_t rank, const RankDeviceFacts& first, const RankDeviceFacts& other) {
  return UsageError{"the devices of all ranks must be alike: " + device_text(0, first) + ", " +
                    device_text(rank, other) + "; choose equal ones with --devices"};
}

UsageError shared(std::size_t one, std::size_t other, int ordinal) {
  const std::string device = std::to_string(ordinal);
  return UsageError{"ranks " + std::to_string(one) + " and " + std::to_string(other) + " would share device " + device +
                    ": start no more ranks than there are devices, or name a device for each rank, as in --devices " +
                    device + "," + device};
}

}  // namespace

int device_at(const RankDeviceSelection& which, int place, int visible) {
  if (which.listed.empty()) return which.first < visible ? (which.first + place) % visible : which.first;
  if (place < static_cast<int>(which.listed.size())) return which.listed[static_cast<std::size_t>(place)];
  throw UsageError("--devices names " + std::to_string(which.listed.size()) +
                   ", and more ranks than that are on this host: name one device for each of them");
}

void check_devices(std::span<const RankDeviceFacts> facts, const RankDeviceSelection& which) {
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    const RankDeviceFacts &its = facts[rank], &first = facts.front();
    if (its.architecture != first.architecture || its.multiprocessors != first.multiprocessors) {
      throw unlike(rank, first, its);
    }
    for (std::size_t other = 0; which.listed.empty() && other < rank; ++other) {
      if (facts[other].uuid == its.uuid) throw shared(other, rank, its.ordinal);
    }
  }
}

std::string nccl_text(int version) {
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::string why_not_connected(std::span<const RankDeviceFacts> facts, std::span<const int> versions) {
  const auto named = [](std::size_t rank) { return "rank " + std::to_string(rank); };
  for (std::size_t rank = 0; rank < versions.size(); ++rank) {
    if (versions[rank] == 0) return named(rank) + " has no NCCL";
  }
  for (std::size_t rank = 1; rank < versions.size(); ++rank) {
    if (versions[rank] == versions.front()) continue;
    return named(rank) + " has " + nccl_text(versions[rank]) + ", and rank 0 " + nccl_text(versions.front());
  }
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    for (std::size_t other = 0; other < rank; ++other) {
      if (facts[other].uuid == facts[rank].uuid) return named(other) + " and " + named(rank) + " share a GPU";
    }
  }
  return {};
}

}  // namespace orrery
