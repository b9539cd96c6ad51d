// How passes on a stream tell of bodies that are not finite.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/sim/cuda_bodies.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr int count = 1000;

class NonFiniteWatchTest : public testing::Test {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }

  struct OnDevice {
    const cuda::Device& gpu = *test::backends().device();
    cuda::Stream stream{gpu};
    cuda::DeviceArray<Vec4> positions{gpu, count}, velocities{gpu, count}, accelerations{gpu, count};
    NonFiniteWatch watch{gpu, stream.get()};

    OnDevice() {
      put(positions, std::vector<Vec4>(count, Vec4{0, 0, 0, 1}));
      put(velocities, std::vector<Vec4>(count, Vec4{1, 0, 0, 0}));
      put(accelerations, std::vector<Vec4>(count));
    }
    void put(const cuda::DeviceArray<Vec4>& array, const std::vector<Vec4>& values) {
      cuda::upload<Vec4>(values, array.data(), stream.get());
      stream.synchronize();
    }
    void spoil(const cuda::DeviceArray<Vec4>& array, int body) {
      const Vec4 bad{0, nan_value, 0, 1};
      cuda::upload<Vec4>(std::span{&bad, 1}, array.data() + body, stream.get());
      stream.synchronize();
    }
    float x(int body) {
      Vec4 position;
      cuda::download<Vec4>(positions.data() + body, std::span{&position, 1}, stream.get());
      stream.synchronize();
      return position.x;
    }
    void look_after(std::int64_t step) {
      cuda::check_finite(positions.data(), velocities.data(), count, watch.report(), watch.pass_after(step),
                         stream.get());
    }
    void drift_in(std::int64_t step, bool changed_before = false, int drifts = 0) {
      const StateArrays arrays{
          .positions = positions.data(), .velocities = velocities.data(), .accelerations = accelerations.data()};
      cuda::kick_drift(gpu, arrays, count, {.kick_dt = 1, .drift_dt = 1}, watch.check_in(step, changed_before, drifts),
                       stream.get());
    }
    void expect_non_finite(std::int64_t step, int body) {
      stream.synchronize();
      ASSERT_TRUE(watch.found());
      EXPECT_EQ(watch.found()->step, step);
      EXPECT_EQ(watch.found()->body, body);
    }
  };
};

TEST_F(NonFiniteWatchTest, FiniteBodiesMoveOn) {
  OnDevice device;
  device.watch.count_from(7);
  device.look_after(7);
  device.drift_in(8);
  device.drift_in(9);
  device.look_after(9);
  device.stream.synchronize();
  EXPECT_FALSE(device.watch.found());
  EXPECT_EQ(device.x(count - 1), 2);
}

TEST_F(NonFiniteWatchTest, TheLowestBodyOfTheFirstPassCountsAndLaterPassesMoveNobody) {
  OnDevice device;
  device.watch.count_from(100);
  device.drift_in(101);
  device.spoil(device.velocities, 40);
  device.spoil(device.velocities, 17);
  device.look_after(101);
  device.spoil(device.velocities, 3);
  device.drift_in(102);
  device.look_after(102);
  device.expect_non_finite(101, 17);
  EXPECT_EQ(device.x(0), 1);
  device.watch.clear();
  device.watch.count_from(0);
  EXPECT_FALSE(device.watch.found());
  device.look_after(0);
  device.expect_non_finite(0, 3);
}

TEST_F(NonFiniteWatchTest, ADriftTellsWhatWasBadBeforeItFromWhatItMade) {
  OnDevice before;
  before.spoil(before.velocities, 999);
  before.drift_in(5);
  before.expect_non_finite(4, 999);

  OnDevice made;
  made.spoil(made.accelerations, 999);
  made.drift_in(5);
  made.expect_non_finite(5, 999);
  EXPECT_EQ(made.x(0), 1) << "the step is made for all bodies";

  OnDevice kicked_in_the_step;
  kicked_in_the_step.spoil(kicked_in_the_step.velocities, 999);
  kicked_in_the_step.drift_in(5, /*changed_before=*/true);
  kicked_in_the_step.expect_non_finite(5, 999);
}

TEST_F(NonFiniteWatchTest, TheFirstOfManyDriftsOfAStepCountsAndTheStepIsCompleted) {
  OnDevice device;
  device.drift_in(5);
  device.drift_in(5, /*changed_before=*/true, 1);
  device.spoil(device.accelerations, 40);
  device.drift_in(5, /*changed_before=*/true, 2);
  device.spoil(device.accelerations, 3);  // as by the pull of body 40
  device.drift_in(5, /*changed_before=*/true, 256);
  device.look_after(5);
  device.drift_in(6);
  device.expect_non_finite(5, 40);
  EXPECT_EQ(device.x(0), 4) << "no drift of the next step";
}

TEST_F(NonFiniteWatchTest, CountsFromABaseSoThatStepsFit) {
  OnDevice device;
  constexpr std::int64_t late = 50'000'000'000;
  EXPECT_FALSE(device.watch.reaches(late));
  device.watch.count_from(late);
  EXPECT_TRUE(device.watch.reaches(late + 1'000'000));
  device.spoil(device.positions, 500);
  device.drift_in(late + 1);
  device.expect_non_finite(late, 500);
  device.watch.count_from(0);
  device.expect_non_finite(late, 500);
}

}  // namespace
}  // namespace orrery
