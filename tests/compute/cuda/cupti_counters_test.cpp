// Hardware counters of a GPU. Skipped without the library, and without the right to profile.
#include "compute/cuda/arrays.h"
#include "compute/cuda/cupti.h"
#include "compute/cuda/device.h"
#include "tests/compute/support/backend.h"
#include "tests/test.h"

namespace orrery::cuda {
namespace {

TEST(CuptiCounters, OfTwoPartsOfTheWork) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  const Device& device = *test::backends().device();
  const std::array<std::string, 4> metrics{"gpu__time_duration.sum", "dram__bytes.sum", "lts__t_bytes.sum",
                                           "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"};
  std::vector<CounterRange> ranges;
  constexpr std::size_t bytes = std::size_t{1} << 26;
  try {
    const Cupti cupti;
    const CounterPlan plan = cupti.plan(device, metrics);
    EXPECT_GE(plan.passes, 1);
    const Stream stream{device};
    const DeviceArray<unsigned char> memory{device, 2 * bytes};
    const auto clear = [&](RangeMarks& marks, const char* name, std::size_t size) {
      marks.begin(name);
      ORRERY_CUDA_CHECK(cudaMemsetAsync(memory.data(), 0, size, stream.get()));
      stream.synchronize();
      marks.end();
    };
    ranges = cupti.measure(device, plan, 4, [&](RangeMarks& marks) {
      clear(marks, "once", bytes);
      clear(marks, "twice", 2 * bytes);
    });
  } catch (const CuptiError& error) {
    GTEST_SKIP() << error.what();
  }
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].name, "once");
  EXPECT_EQ(ranges[1].name, "twice");
  for (const CounterRange& range : ranges) {
    ASSERT_EQ(range.values.size(), 4u);
    EXPECT_GT(range.values[0], 0) << range.name;
  }
  EXPECT_NEAR(ranges[1].values[2] / ranges[0].values[2], 2, 0.3) << "bytes that passed the second cache";
}

}  // namespace
}  // namespace orrery::cuda
