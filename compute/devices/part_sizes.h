#pragma once

#include <span>
#include <vector>

#include "compute/kernels/division_facet.h"

namespace orrery {

/// How large the parts of an evaluation are: equal at first, and then such that all cost the same.
class PartSizes {
 public:
  explicit PartSizes(int parts) : shares_(static_cast<std::size_t>(parts), 1.0 / parts) {}

  std::vector<Part> parts() const;
  /// The part of each of `count` things in order, by its index.
  std::vector<int> owners(int count) const;
  /// `costs`: times or work of the present parts, in their order. Changes the parts if one cost 5 % more than the mean,
  /// and returns whether it did.
  bool learn(std::span<const double> costs);

 private:
  std::vector<double> shares_;  // their sum is 1
};

}  // namespace orrery
