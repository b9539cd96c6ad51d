#include "compute/kernels/parts/simd_name.h"

#include <hwy/targets.h>

#include <string_view>

namespace orrery {

const char* simd_name(std::int64_t target) {
  const char* const name = hwy::TargetName(static_cast<decltype(hwy::SupportedTargets())>(target));
  return std::string_view{name}.starts_with("AVX3") ? "AVX-512" : name;
}

}  // namespace orrery
