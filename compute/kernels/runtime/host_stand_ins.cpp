#include "compute/kernels/runtime/host_stand_ins.h"

namespace orrery {
namespace {

constexpr SourceFile stand_ins[] = {
    {"bit", R"(#pragma once
#include <cstdint>
namespace std {
constexpr int countl_zero(uint64_t bits) {
  int zeros = 0;
  for (uint64_t bit = uint64_t{1} << 63; bit != 0 && !(bits & bit); bit >>= 1) ++zeros;
  return zeros;
}
}
)"},
    {"cuda_runtime_api.h", ""},  // built in
    {"optional", R"(#pragma once
namespace std { template <class T> class optional {}; }
)"},
    {"span", R"(#pragma once
namespace std { template <class T> class span; }
)"},
    {"string_view", R"(#pragma once
namespace std { class string_view; }
)"},
    {"type_traits", R"(#pragma once
namespace std {
template <class T, T number>
struct integral_constant {
  static constexpr T value = number;
  constexpr operator T() const { return number; }
};
}
)"},
    {"utility", R"(#pragma once
namespace std {
template <class T, T... numbers>
struct integer_sequence {};
template <class T, bool complete, T count, T... numbers>
struct integers_below : integers_below<T, count == 1, count - 1, count - 1, numbers...> {};
template <class T, T count, T... numbers>
struct integers_below<T, true, count, numbers...> {
  using type = integer_sequence<T, numbers...>;
};
template <class T, T count>
using make_integer_sequence = typename integers_below<T, count == 0, count>::type;
}
)"},
    {"vector", R"(#pragma once
#include <cstddef>
namespace std { template <class T> class vector {}; }
)"},
    {"compute/cuda/device.h", R"(#pragma once
namespace orrery::cuda { class Device; }
)"},
    {"compute/cuda/arrays.h", R"(#pragma once
namespace orrery::cuda {
class Device;
template <class T> class DeviceArray {};
}
)"},
    {"compute/cuda/launch.h", R"(#pragma once
namespace orrery::cuda {
class Device;
template <class... Params, class... Arguments> void launch(Arguments...);
}
#if __CUDA_ARCH__ >= 900
__device__ inline void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#endif
)"},
    {"compute/kernels/kernel.h", R"(#pragma once
namespace orrery {
struct ForceArgs;
struct DeviceBlock;
}
)"},
};

}  // namespace

std::span<const SourceFile> host_stand_ins() {
  return stand_ins;
}

}  // namespace orrery
