// Moments and expansions of high order against fp64 direct sums over the bodies that they stand for.
#include "compute/kernels/tree/high_expansion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "compute/core/force_law.h"
#include "compute/kernels/tree/multipole.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

struct HighCell {
  Vec4 center;  ///< of mass; the mass in w
  high::Moments moments;
};

HighCell cell_without_high_moments(const Moments& of) {
  HighCell cell{of.center, {}};
  float* second = cell.moments.at + high::terms_below(2);
  cell.moments.at[0] = of.center.w;
  std::ranges::copy(std::initializer_list<float>{of.q.xx / 2, of.q.xy, of.q.xz, of.q.yy / 2, of.q.yz, of.q.zz / 2},
                    second);
  return cell;
}

HighCell high_cell_of(std::span<const Vec4> bodies) {
  HighCell cell = cell_without_high_moments(combined_moments(
      static_cast<int>(bodies.size()), [&](int i) -> const Vec4& { return bodies[static_cast<std::size_t>(i)]; }));
  const Vec4& at = cell.center;
  for (const Vec4& body : bodies) high::add_body(cell.moments, body.x - at.x, body.y - at.y, body.z - at.z, body.w);
  return cell;
}

Vec3d direct_pull(std::span<const Vec4> bodies, Vec3 point, float softening) {
  const Gravity<double> law{double{softening} * softening};
  Vec3d sum;
  for (const Vec4& body : bodies) add_pull(sum, law, double{point.x}, double{point.y}, double{point.z}, body);
  return sum;
}

/// The largest |da| / |a| in a cube of side 2 around the origin, of the expansion there of a cell of these bodies.
double high_error(std::span<const Vec4> bodies, float softening) {
  const HighCell cell = high_cell_of(bodies);
  const Vec4& at = cell.center;
  high::Expansion expansion;
  const Gravity<float> law{softening * softening};
  high::add_distant_cell(expansion, law.inverse_distance(at.x, at.y, at.z), at.x, at.y, at.z, cell.moments);
  double worst = 0;
  for (const Vec3& y : {Vec3{1, 1, 1}, Vec3{-1, 1, 1}, Vec3{1, -1, 1}, Vec3{1, 1, -1}, Vec3{-1, -1, -1}, Vec3{0, 0, 0},
                        Vec3{0.5f, 0, 0}, Vec3{0, 0.5f, 0}, Vec3{0, 0, 0.5f}, Vec3{0.3f, -0.7f, 0.2f}}) {
    const Vec3 pull = high::pull_at(expansion, y.x, y.y, y.z);
    const Vec3d wanted = direct_pull(bodies, y, softening);
    worst = std::max(worst, std::hypot(pull.x - wanted.x, pull.y - wanted.y, pull.z - wanted.z) /
                                std::hypot(wanted.x, wanted.y, wanted.z));
  }
  return worst;
}

TEST(HighExpansion, TermsAreNumberedByOrderAndNumbersHaveTheirTerms) {
  int next = 0;
  for (int order = 0; order <= high::field_order; ++order) {
    EXPECT_EQ(high::terms_below(order), next);
    for (int x = order; x >= 0; --x) {
      for (int y = order - x; y >= 0; --y, ++next) {
        const high::Powers powers{x, y, order - x - y};
        EXPECT_EQ(high::term_of(powers), next);
        EXPECT_TRUE(high::powers_of(next).less(powers).exist() && powers.less(high::powers_of(next)).exist());
      }
    }
  }
  EXPECT_EQ(high::field_terms, next);
}

TEST(HighExpansion, TheErrorOfACellFallsWithTheSixthPowerOfItsDistance) {
  for (const float softening : {1e-6f, 1.0f, 3.0f}) {
    double before = 1;
    for (const float distance : {6.0f, 12.0f, 24.0f}) {
      Bodies ball = test::random_ball(200);
      for (Vec4& p : ball.positions) {
        p = {0.2f * p.x + 0.6f * distance, 0.2f * p.y - 0.64f * distance, 0.4f * p.z + 0.48f * distance, p.w};
      }
      const double error = high_error(ball.positions, softening);
      EXPECT_LT(error, before / 40 + 8e-7) << distance << ' ' << softening;
      before = error;
    }
    EXPECT_LT(before, 2e-6) << softening;
  }
}

TEST(HighExpansion, OneBodyOnAnAxisFallsAsFast) {
  for (const Vec3& way : {Vec3{1, 0, 0}, Vec3{0, -1, 0}, Vec3{0, 0, 1}}) {
    const auto error_at = [&](float distance) {
      const Vec4 body{distance * way.x, distance * way.y, distance * way.z, 3};
      return high_error({&body, 1}, 0.5f);
    };
    EXPECT_LT(error_at(12), error_at(6) / 40);
    EXPECT_GT(error_at(12), error_at(6) / 200) << "the first neglected order is the seventh";
  }
}

TEST(HighExpansion, CombinedCellsHaveTheMomentsOfTheirBodies) {
  const Bodies ball = test::random_ball(320);
  const std::span<const Vec4> bodies = ball.positions;
  const HighCell all = high_cell_of(bodies);
  high::Moments sum;
  for (std::size_t c = 0; c < 8; ++c) {
    const HighCell part = high_cell_of(bodies.subspan(c * 40, 40));
    high::add_cell(sum, part.center.x - all.center.x, part.center.y - all.center.y, part.center.z - all.center.z,
                   part.moments);
  }
  for (int order = 3; order <= high::moment_order; ++order) {
    float largest = 0;
    for (int term = high::terms_below(order); term < high::terms_below(order + 1); ++term) {
      largest = std::max(largest, std::abs(all.moments.at[term]));
    }
    for (int term = high::terms_below(order); term < high::terms_below(order + 1); ++term) {
      EXPECT_NEAR(sum.at[term], all.moments.at[term], 2e-5 * largest) << term;
    }
  }
}

}  // namespace
}  // namespace orrery
