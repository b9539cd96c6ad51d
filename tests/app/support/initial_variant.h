#pragma once

#include "app/lab/variants.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

/// A built-in kernel at its initial settings.
inline Variant initial_variant(const char* id) {
  const KernelPtr kernel = find_kernel(id);
  return {kernel, Settings{*kernel}};
}

}  // namespace orrery::test
