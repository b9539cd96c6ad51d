// How the force errors of trees are spread over the bodies, in any units.
#include "tests/compute/support/backend.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

class Draw {
 public:
  double uniform() { return std::uniform_real_distribution<double>{0, 1}(generator_); }
  double normal() { return normal_(generator_); }
  /// A body at this distance from a point, in any direction.
  Vec4 body(double radius, double mass, const Vec3d& from = {}) {
    const double x = normal(), y = normal(), z = normal(), scale = radius / std::sqrt(x * x + y * y + z * z);
    return {static_cast<float>(from.x + x * scale), static_cast<float>(from.y + y * scale),
            static_cast<float>(from.z + z * scale), static_cast<float>(mass)};
  }
  /// A radius in a Plummer sphere that is not cut: a few bodies are 100 scale lengths away.
  double plummer_radius() { return 1 / std::sqrt(std::pow(1 - 0.9999 * uniform(), -2.0 / 3) - 1); }

 private:
  std::mt19937 generator_{7};
  std::normal_distribution<double> normal_;
};

constexpr int count = 5000;

using test::at_rest;

Bodies plummer() {
  Draw draw;
  std::vector<Vec4> bodies;
  for (int i = 0; i < count; ++i) bodies.push_back(draw.body(draw.plummer_radius(), 1.0 / count));
  return at_rest(std::move(bodies));
}

Bodies clumpy() {
  Draw draw;
  std::vector<Vec4> clumps, bodies;
  for (int i = 0; i < 5; ++i) clumps.push_back(draw.body(10 * std::cbrt(draw.uniform()), 0.1 + 0.4 * draw.uniform()));
  for (std::size_t i = 0; i < count; ++i) {
    const Vec4& clump = clumps[i % clumps.size()];
    bodies.push_back(draw.body(double{clump.w} * draw.plummer_radius(), 1.0 / count, {clump.x, clump.y, clump.z}));
  }
  return at_rest(std::move(bodies));
}

Bodies lognormal() {
  Draw draw;
  std::vector<Vec4> bodies;
  for (int i = 0; i < count; ++i) bodies.push_back(draw.body(std::exp(1.5 * draw.normal()), 1.0 / count));
  return at_rest(std::move(bodies));
}

Bodies uniform() {
  Draw draw;
  std::vector<Vec4> bodies;
  for (int i = 0; i < count; ++i) bodies.push_back(draw.body(std::cbrt(draw.uniform()), 1.0 / count));
  return at_rest(std::move(bodies));
}

Vec4 in_plane(Draw& draw, double radius, double thickness, double mass) {
  const double x = draw.normal(), y = draw.normal(), scale = radius / std::sqrt(x * x + y * y);
  return {static_cast<float>(x * scale), static_cast<float>(y * scale), static_cast<float>(thickness * draw.normal()),
          static_cast<float>(mass)};
}

Bodies disc() {
  Draw draw;
  std::vector<Vec4> bodies;
  for (int i = 0; i < count; ++i) {
    bodies.push_back(in_plane(draw, -std::log((1 - draw.uniform()) * (1 - draw.uniform())), 0.05, 1.0 / count));
  }
  return at_rest(std::move(bodies));
}

constexpr int star = count / 3;
/// The pulls of the disc on the star in its middle cancel but for a hundredth.
Bodies star_in_disc() {
  Draw draw;
  std::vector<Vec4> bodies;
  for (int i = 0; i < count; ++i) {
    const double radius = 0.5 * std::pow(20.0, draw.uniform());
    bodies.push_back(in_plane(draw, radius, 0.02 * radius, 1e-3 / count));
  }
  bodies[star] = {0, 0, 0, 1};
  return at_rest(std::move(bodies));
}

const std::vector<int>& all_bodies() {
  static const std::vector<int> all = sample_targets(count, count);
  return all;
}

class TreeErrors : public test::BackendTest {
 protected:
  static const KernelInfo& tree() {
    return *test::find_kernel(test::backend == Backend::cpu ? "cpu-tree" : "cuda-tree");
  }
  static std::vector<Vec4> pulls(const Bodies& bodies, const char* order, const char* tolerance, const Law& law) {
    return test::accelerations(tree(), Settings{tree(), {{"order", order}, {"tolerance", tolerance}}}, bodies, law);
  }
};

TEST_F(TreeErrors, KeepNearTheirMedianAlsoInThinOutskirts) {
  const struct {
    const char* name;
    Bodies bodies;
  } systems[] = {{"plummer", plummer()},
                 {"clumpy", clumpy()},
                 {"lognormal", lognormal()},
                 {"disc", disc()},
                 {"uniform", uniform()}};
  // High moments are for small tolerances, and have a longer tail.
  const struct {
    const char *order, *tolerance;
    double most_p99, most;
  } cases[] = {
      {"quadrupole", "1e-3", 8, 25}, {"local", "1e-3", 8, 25}, {"local", "1e-4", 8, 20}, {"high", "1e-4", 9, 60}};
  // On the GPU, no body walks alone: the worst of all bodies is one whose pulls cancel.
  const double most_there = 120;
  for (const auto& system : systems) {
    const auto exact = reference_accelerations(system.bodies.positions, all_bodies(), Law{});
    for (const auto& each : cases) {
      SCOPED_TRACE(std::string{system.name} + ' ' + each.order + ' ' + each.tolerance);
      const ForceError error =
          force_error(pulls(system.bodies, each.order, each.tolerance, Law{}), all_bodies(), exact);
      EXPECT_LE(error.p99, each.most_p99 * error.median);
      EXPECT_LE(error.max, (test::backend == Backend::cpu ? each.most : most_there) * error.median);
    }
  }
}

TEST_F(TreeErrors, ABodyWhosePullsCancelIsAsExactAsItsTolerance) {
  const Bodies bodies = star_in_disc();
  const Law law{.softening = 1e-3f};
  const std::vector<int> targets{star};
  const auto exact = reference_accelerations(bodies.positions, targets, law);
  for (const char* order : {"quadrupole", "local", "high"}) {
    // A body walks alone if its pull is less than a third of the estimate: with more, its errors may be three times
    // larger.
    EXPECT_LE(force_error(pulls(bodies, order, "1e-3", law), targets, exact).max, 1e-2) << order;
  }
}

/// Powers of distances and masses must not leave the range of float.
TEST_F(TreeErrors, DoNotDependOnTheUnits) {
  const std::vector<int> targets = sample_targets(count, 1000);
  for (const char* order : {"monopole", "quadrupole", "local", "high"}) {
    double first_median = 0, first_p99 = 0;
    for (const float length : {1.0f, 1e-15f, 1e-9f, 206264.806f, 1e7f, 1e13f}) {
      for (const float mass : {1.0f, 1e-12f, 1e12f}) {
        SCOPED_TRACE(std::string{order} + ", lengths times " + std::to_string(length) + ", masses times " +
                     std::to_string(mass));
        if (mass / (length * length) > 1e30f || mass / (length * length) < 1e-30f) continue;  // not numbers of fp32
        Bodies bodies = plummer();
        for (Vec4& body : bodies.positions) {
          body = {body.x * length, body.y * length, body.z * length, body.w * mass};
        }
        const Law law{.softening = 0.02f * length};
        const ForceError error = force_error(pulls(bodies, order, "1e-3", law), targets,
                                             reference_accelerations(bodies.positions, targets, law));
        if (first_median == 0) first_median = error.median, first_p99 = error.p99;
        EXPECT_NEAR(error.median, first_median, 0.1 * first_median);
        EXPECT_NEAR(error.p99, first_p99, 0.1 * first_p99);
      }
    }
  }
}

}  // namespace
}  // namespace orrery
