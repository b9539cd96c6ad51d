#pragma once

#include "app/lab/tuning/tuning_run.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

/// cpu-simd with this value of its tunable `rows`: a candidate that every machine has.
inline Variant rows_variant(const char* rows) {
  const KernelPtr kernel = test::find_kernel("cpu-simd");
  Variant variant{kernel, Settings{*kernel}};
  variant.settings.set("rows", rows);
  return variant;
}

/// cpu-tree with this value of its tunable `theta`.
inline Variant tree_variant(const char* theta) {
  const KernelPtr kernel = test::find_kernel("cpu-tree");
  Variant variant{kernel, Settings{*kernel}};
  variant.settings.set("theta", theta);
  return variant;
}

}  // namespace orrery::test
