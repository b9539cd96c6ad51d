#pragma once

#include <chrono>
#include <vector>

#include "compute/kernels/tree_facet.h"

namespace orrery {

/// Measures the times of the phases of an evaluation.
class PhaseClock {
 public:
  void end_phase(const char* name, std::vector<TreePhase>& phases) {
    const auto now = std::chrono::steady_clock::now();
    phases.push_back({name, std::chrono::duration<double, std::milli>(now - begin_).count()});
    begin_ = now;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace orrery
