#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The CUDA devices that share one run.
struct DeviceList {
  bool all = false;           ///< all existing devices; `ordinals` is then empty
  std::vector<int> ordinals;  ///< the first device holds the bodies; repeated ordinals are for tests

  /// Parses "all", "0" or "0,1". Throws UsageError that names what is allowed. `option`: where the text was given.
  static DeviceList parsed(std::string_view option, std::string_view text);
  /// Returns the text that parsed() reads.
  std::string to_string() const;
  friend bool operator==(const DeviceList&, const DeviceList&) = default;
};

}  // namespace orrery
