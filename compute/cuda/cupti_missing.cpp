#include "compute/cuda/cupti.h"

namespace orrery::cuda {

struct Cupti::Functions {};

namespace {

[[noreturn]] void refuse() {
  throw CuptiError(
#if ORRERY_HAVE_CUDA
      "this program was built with a CUDA toolkit without CUPTI's range profiler: build it with CUDA 12.6 or later and "
      "its package of CUPTI"
#else
      "this program was built without CUDA"
#endif
  );
}

}  // namespace

Cupti::Cupti(std::span<const std::string> /*libraries*/) {
  refuse();
}

Cupti::~Cupti() = default;

std::vector<std::string> Cupti::usual_libraries() {
  return {};
}

std::vector<std::string> Cupti::chips() const {
  refuse();
}

CounterPlan Cupti::plan(const std::string& /*chip*/, std::span<const std::string> /*metrics*/) const {
  refuse();
}

CounterPlan Cupti::plan(const Device& /*device*/, std::span<const std::string> /*metrics*/) const {
  refuse();
}

std::vector<CounterRange> Cupti::measure(const Device& /*device*/, const CounterPlan& /*plan*/,
                                         std::size_t /*most_ranges*/,
                                         const std::function<void(RangeMarks& marks)>& /*work*/) const {
  refuse();
}

}  // namespace orrery::cuda
