#pragma once

#include <nvtx3/nvToolsExt.h>

namespace orrery::cuda {

/// A named range of this thread's time for profilers (NVTX), such as the time in which it enqueues the work of a phase.
/// Nsight Systems shows it, and on the GPU's own time line the work that was enqueued meanwhile.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ~ProfilerRange() { nvtxRangePop(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace orrery::cuda
