#pragma once

#include <vector>

namespace orrery {

/// What a device does for a while in an evaluation that several divide. Between two of them it waits for others.
struct DeviceSpan {
  const char* name = "";            ///< "hand out", "bodies", "tree", "cells", "walk", "forces" or "results"
  bool communicates = false;        ///< with other devices; otherwise it is the device's own work
  double begin_ms = 0, end_ms = 0;  ///< since the first device began
};

/// Where the time of one device went in an evaluation that several divide.
struct DeviceLoad {
  int device = 0;                   ///< its ordinal
  double work_ms = 0;               ///< its own part, and what it does for all
  double copy_ms = 0;               ///< between it and others
  double wait_ms = 0;               ///< the rest: for the others
  std::vector<DeviceSpan> spans{};  ///< in their order
};

}  // namespace orrery
