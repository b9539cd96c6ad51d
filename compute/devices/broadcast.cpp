#include "compute/devices/broadcast.h"

#include <cstddef>

#include "compute/devices/on_device.h"

namespace orrery {

void PeerCopies::send(std::span<const End> ends) {
  const ActiveAfterwards leads{*devices_.front()};
  const End& from = ends.front();
  for (std::size_t i = 1; i < ends.size(); ++i) {
    on_device(*devices_[i], [&] {
      for (std::size_t k = 0; k < from.blocks.size(); ++k) {
        if (from.blocks[k].bytes == 0) continue;
        ORRERY_CUDA_CHECK(cudaMemcpyPeerAsync(ends[i].blocks[k].data, devices_[i]->ordinal(), from.blocks[k].data,
                                              devices_.front()->ordinal(), from.blocks[k].bytes, ends[i].stream));
      }
    });
  }
}

}  // namespace orrery
