#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The CUDA devices that share one run.
struct DeviceList {
  bool all = false;           ///< that there are; `ordinals` is then empty
  std::vector<int> ordinals;  ///< the first has the bodies; one may be named twice, which is for tests

  /// "all", "0" or "0,1". Throws UsageError that names what is allowed; `option` is where the text was given.
  static DeviceList parsed(std::string_view option, std::string_view text);
  /// As parsed() reads it.
  std::string to_string() const;
  friend bool operator==(const DeviceList&, const DeviceList&) = default;
};

}  // namespace orrery
