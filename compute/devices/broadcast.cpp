#include "compute/devices/broadcast.h"

#include <cstddef>

#include "compute/devices/device_team.h"

namespace orrery {

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

}  // namespace orrery
