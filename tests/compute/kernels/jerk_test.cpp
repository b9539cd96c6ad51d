// Kernels that give jerks: accelerations and jerks against sums in double precision and finite differences.
#include "compute/kernels/kernel.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/arrays.h"
#endif

namespace orrery {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

std::vector<PreciseBody> random_bodies(int count) {
  const Bodies ball = test::random_ball(count);
  std::vector<PreciseBody> bodies;
  for (std::size_t i = 0; i < ball.positions.size(); ++i) {
    PreciseBody body = at_rest(ball.positions[i]);
    // Thirds have digits below those of floats.
    body.position = {body.position.x + 1e-8 / 3, body.position.y - 1e-9 / 3, body.position.z + 1e-7 / 3};
    body.velocity = {ball.velocities[i].x / 3.0, ball.velocities[i].y / 3.0, ball.velocities[i].z / 3.0};
    bodies.push_back(body);
  }
  return bodies;
}

/// As the law says, by definition: the acceleration of body `i` and its derivative in time.
Pull direct(const std::vector<PreciseBody>& bodies, std::size_t i, const Law& law) {
  Pull sum;
  const double h = law.id == LawId::attract_repel ? double{law.repulsion} : 0;
  for (const PreciseBody& other : bodies) {
    const PreciseBody& me = bodies[i];
    const double r[] = {other.position.x - me.position.x, other.position.y - me.position.y,
                        other.position.z - me.position.z};
    const double v[] = {other.velocity.x - me.velocity.x, other.velocity.y - me.velocity.y,
                        other.velocity.z - me.velocity.z};
    const double d2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + double{law.softening} * law.softening;
    const double along = r[0] * v[0] + r[1] * v[1] + r[2] * v[2];
    const double s = other.mass * (std::pow(d2, -1.5) - h * std::pow(d2, -2.5));
    const double rate = other.mass * along * (-3 * std::pow(d2, -2.5) + 5 * h * std::pow(d2, -3.5));
    double* const a[] = {&sum.acceleration.x, &sum.acceleration.y, &sum.acceleration.z};
    double* const j[] = {&sum.jerk.x, &sum.jerk.y, &sum.jerk.z};
    for (int k = 0; k < 3; ++k) {
      *a[k] += s * r[k];
      *j[k] += s * v[k] + rate * r[k];
    }
  }
  return sum;
}

double length(const Vec3d& v) {
  return std::hypot(v.x, v.y, v.z);
}
Vec3d minus(const Vec3d& a, const Vec3d& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

/// The entries of bodies that are not evaluated are NaN.
std::vector<Pull> evaluate(ForceKernel& kernel, const std::vector<PreciseBody>& bodies, const Law& law,
                           const std::vector<int>& targets = {}) {
  const Vec3d poison{nan_value, nan_value, nan_value};
  std::vector<Pull> pulls(bodies.size(), Pull{poison, poison});
  JerkArgs args{
      .bodies = bodies.data(),
      .count = static_cast<int>(bodies.size()),
      .targets = {.indices = targets.empty() ? nullptr : targets.data(), .count = static_cast<int>(targets.size())},
      .law = law,
      .pulls = pulls.data()};
#if ORRERY_HAVE_CUDA
  if (test::backend == Backend::cuda) {
    const auto to_device = [](const auto& host) {
      using T = std::decay_t<decltype(host[0])>;
      cuda::DeviceArray<T> device{*test::backends().device(), host.size()};
      cuda::upload(std::span<const T>{host}, device.data(), nullptr);
      return device;
    };
    const auto d_bodies = to_device(bodies);
    const auto d_pulls = to_device(pulls);
    const auto d_targets = to_device(targets);
    args.bodies = d_bodies.data();
    args.pulls = d_pulls.data();
    if (args.targets) args.targets.indices = d_targets.data();
    kernel.jerks()->evaluate_jerks(args);
    cuda::download(d_pulls.data(), std::span{pulls}, nullptr);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(nullptr));
    return pulls;
  }
#endif
  kernel.jerks()->evaluate_jerks(args);
  return pulls;
}

class Jerks : public test::KernelTest {
 protected:
  struct Precision {
    const char* name;
    double acceleration, jerk;  // largest errors, relative to the body's own
  };
  static constexpr Precision precisions[] = {{"mixed", 3e-6, 3e-5}, {"fp64", 1e-13, 1e-12}};

  static std::unique_ptr<ForceKernel> make(const char* precision) {
    return test::backends().make_kernel(*GetParam(), Settings{*GetParam(), {{"precision", precision}}});
  }
  static void expect_near(const Pull& found, const Pull& expected, const Precision& precision, std::size_t body) {
    EXPECT_LE(length(minus(found.acceleration, expected.acceleration)),
              precision.acceleration * length(expected.acceleration))
        << "body " << body;
    EXPECT_LE(length(minus(found.jerk, expected.jerk)), precision.jerk * length(expected.jerk)) << "body " << body;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Jerks);

TEST_P(Jerks, AgreeWithTheDirectSumForEveryCount) {
  for (const Precision& precision : precisions) {
    const auto kernel = make(precision.name);
    for (const int count : {1, 2, 31, 33, 257, 4097}) {
      const std::vector<PreciseBody> bodies = random_bodies(count);
      for (const Law& law : {Law{}, test::attract_repel}) {
        SCOPED_TRACE(std::string{precision.name} + ", " + std::to_string(count) + ", " + law_info(law.id).id);
        const std::vector<Pull> found = evaluate(*kernel, bodies, law);
        for (std::size_t i = 0; i < bodies.size(); i += 1 + bodies.size() / 50) {
          expect_near(found[i], direct(bodies, i, law), precision, i);
        }
      }
    }
  }
}

TEST_P(Jerks, AreTheRateOfTheAccelerations) {
  const auto kernel = make("fp64");
  const std::vector<PreciseBody> bodies = random_bodies(257);
  constexpr double h = 1e-5;
  const auto after = [&](double dt) {
    std::vector<PreciseBody> moved = bodies;
    for (PreciseBody& body : moved) {
      body.position = {body.position.x + body.velocity.x * dt, body.position.y + body.velocity.y * dt,
                       body.position.z + body.velocity.z * dt};
    }
    return evaluate(*kernel, moved, test::attract_repel);
  };
  const std::vector<Pull> now = evaluate(*kernel, bodies, test::attract_repel), before = after(-h), later = after(h);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    Vec3d rate = minus(later[i].acceleration, before[i].acceleration);
    rate = {rate.x / (2 * h), rate.y / (2 * h), rate.z / (2 * h)};
    EXPECT_LE(length(minus(rate, now[i].jerk)), 1e-5 * length(now[i].jerk)) << "body " << i;
  }
}

TEST_P(Jerks, OfTargetsAreThoseOfAllBodies) {
  for (const Precision& precision : precisions) {
    SCOPED_TRACE(precision.name);
    const auto kernel = make(precision.name);
    const std::vector<PreciseBody> bodies = random_bodies(1009);
    const std::vector<Pull> all = evaluate(*kernel, bodies, {});
    for (const int size : {1, 7, 300}) {
      std::vector<int> targets;
      for (int k = 0; k < size; ++k) targets.push_back((k * 271 + 5) % 1009);
      const std::vector<Pull> found = evaluate(*kernel, bodies, {}, targets);
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        const bool listed = std::ranges::find(targets, static_cast<int>(i)) != targets.end();
        ASSERT_EQ(std::isnan(found[i].acceleration.x), !listed) << "body " << i;
        if (listed) expect_near(found[i], all[i], precision, i);
      }
    }
  }
}

/// Far from the origin, floats would not tell the two apart.
TEST_P(Jerks, OfAClosePairKeepTheirDigits) {
  constexpr double distance = 1e-6, third = 1.0 / 3;
  std::vector<PreciseBody> pair(2);
  pair[0] = {{100 * third, 50 * third, third}, 0.5, {0.1, 0, 0}};
  pair[1] = {{100 * third + distance, 50 * third, third}, 0.5, {-0.1, 0.2, 0}};
  const Law law{.softening = 2e-6f};
  for (const Precision& precision : precisions) {
    SCOPED_TRACE(precision.name);
    const auto kernel = make(precision.name);
    const std::vector<Pull> found = evaluate(*kernel, pair, law);
    // A double-float has 48 bits: 1.2e-13 of the coordinate, 1.2e-7 of the distance.
    const bool mixed = std::string{precision.name} == "mixed";
    const Precision allowed{precision.name, mixed ? 2e-6 : 1e-13, mixed ? 2e-5 : 1e-12};
    for (std::size_t i = 0; i < 2; ++i) expect_near(found[i], direct(pair, i, law), allowed, i);
  }
}

TEST_P(Jerks, OfABodyOnItselfAreZeroWithTheLeastSoftening) {
  const std::vector<PreciseBody> one = random_bodies(1);
  Law law = test::attract_repel;
  law.softening = Law::min_softening;
  law.repulsion = Law::max_repulsion;
  for (const Precision& precision : precisions) {
    const std::vector<Pull> found = evaluate(*make(precision.name), one, law);
    EXPECT_EQ(length(found[0].acceleration), 0) << precision.name;
    EXPECT_EQ(length(found[0].jerk), 0) << precision.name;
  }
}

TEST_P(Jerks, AreOfferedByTheDescriptorsThatSaySo) {
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    const auto made = test::backends().make_kernel(*kernel, Settings{*kernel});
    EXPECT_EQ(made->jerks() != nullptr, kernel->gives_jerks) << kernel->id;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Jerks, testing::ValuesIn(test::kernels_under_test(&KernelInfo::gives_jerks)),
                         test::test_name);

}  // namespace
}  // namespace orrery
