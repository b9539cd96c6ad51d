#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// List of the CUDA devices that share one run: the value of --devices.
struct DeviceList {
  bool all = false;           ///< all devices of the machine; `ordinals` is then empty
  std::vector<int> ordinals;  ///< the first device leads and owns the bodies; repeated ordinals are for tests

  /// Parses "all", "0" or "0,1". Throws UsageError with the allowed values. `option`: its name, for the message.
  static DeviceList parsed(std::string_view option, std::string_view text);
  /// Returns text in the format of parsed().
  std::string to_string() const;
  friend bool operator==(const DeviceList&, const DeviceList&) = default;
};

}  // namespace orrery
