#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// List of the CUDA devices that share one run: the value of --devices.
struct DeviceList {
  bool all = false;           ///< all devices of the machine; `ordinals` is then empty
  std::vector<int> ordinals;  ///< the first device is the leader, which has the bodies; repeated ordinals are for tests

  /// Parses "all", "0" or "0,1". Throws UsageError with the allowed values. `option`: name of the option, for the
  /// message.
  static DeviceList parsed(std::string_view option, std::string_view text);
  /// Returns the list as text that parsed() accepts.
  std::string to_string() const;
  friend bool operator==(const DeviceList&, const DeviceList&) = default;
};

}  // namespace orrery
