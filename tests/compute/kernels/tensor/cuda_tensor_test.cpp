// cuda-tensor's promises beyond what every kernel does: errors that do not grow with the number of bodies, and
// bodies close together that are far from the mean of all.
#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

using test::attract_repel;

class CudaTensor : public test::BackendTest {
 protected:
  static ForceError error_of(const Bodies& bodies, const char* warps, const Law& law) {
    const KernelInfo& info = *test::find_kernel("cuda-tensor");
    Settings settings{info};
    settings.set("warps", warps);
    return test::sampled_error(info, settings, bodies, law);
  }
};

TEST_F(CudaTensor, LargeSystemsAreAsExactAsSmallOnes) {
  for (const char* warps : {"8", "12"}) {
    for (const Law& law : {Law{}, attract_repel}) {
      for (const int count : {4097, 16'385, 65'537}) {
        SCOPED_TRACE(std::string{warps} + " warps, " + law_info(law.id).id + ", n = " + std::to_string(count));
        const ForceError error = error_of(test::random_ball(count), warps, law);
        EXPECT_LE(error.median, 3e-5);
        EXPECT_LE(error.max, 5e-3);
      }
    }
  }
}

TEST_F(CudaTensor, ClumpsFarFromTheMeanAreSummedAgain) {
  Bodies bodies = test::random_ball(4096);
  for (int i = 0; i < bodies.count(); ++i) {
    Vec4& position = bodies.positions[static_cast<std::size_t>(i)];
    position.x = position.x * 0.01f + static_cast<float>(i % 16) * 50;
    position.y = position.y * 0.01f + static_cast<float>(i % 7) * 40;
    position.z *= 0.01f;
  }
  for (const char* warps : {"8", "12"}) {
    const ForceError error = error_of(bodies, warps, {.softening = 1e-3f});
    EXPECT_LE(error.median, 1e-4);
    EXPECT_LE(error.max, 1e-2);
  }
}

}  // namespace
}  // namespace orrery
