#pragma once

#include <utility>

#include "compute/kernels/kernel.h"

namespace orrery::test {

/// Returns a kernel for catalogs, with only an id and a way to create it.
inline KernelInfo kernel_info(const char* id, decltype(KernelInfo::create) create) {
  return {.id = id,
          .title = id,
          .notes = "Of a test.",
          .source = "this test",
          .lesson = "none",
          .backend = Backend::cpu,
          .tunables = {},
          .tolerance = {.median = 1, .max = 1},
          .create = std::move(create)};
}

}  // namespace orrery::test
