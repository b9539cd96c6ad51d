#pragma once

namespace orrery {

/// Where the time of one device went in an evaluation that several divide.
struct DeviceLoad {
  int device = 0;      ///< its ordinal
  double work_ms = 0;  ///< its own part, and what it does for all
  double copy_ms = 0;  ///< between it and others
  double wait_ms = 0;  ///< the rest: for the others
};

}  // namespace orrery
