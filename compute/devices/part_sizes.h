#pragma once

#include <span>
#include <vector>

#include "compute/kernels/division_facet.h"

namespace orrery {

/// How large the parts of an evaluation are: equal at first, and then such that all take the same time.
class PartSizes {
 public:
  explicit PartSizes(int parts) : shares_(static_cast<std::size_t>(parts), 1.0 / parts) {}

  std::vector<Part> parts() const;
  /// `ms`: what the present parts took, in their order. Changes them if the slowest took much longer than the mean.
  void learn(std::span<const double> ms);

 private:
  std::vector<double> shares_;  // their sum is 1
};

}  // namespace orrery
