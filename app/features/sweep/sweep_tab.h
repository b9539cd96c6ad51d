#pragma once

#include <string>
#include <vector>

namespace orrery {

/// The sweep that the user is choosing.
struct SweepDraft {
  std::vector<std::string> tunables;  ///< every combination of their values; those of other kernels are ignored
  bool every_kernel = false;          ///< instead of settings: all kernels with their initial settings
  std::string counts;                 ///< as typed; empty: the current number of bodies
};

}  // namespace orrery
