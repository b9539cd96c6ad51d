// Moments and their pull against fp64 direct sums over the bodies that they stand for.
#include "compute/kernels/tree/multipole.h"

#include "compute/core/law.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

Moments moments_of(std::span<const Vec4> bodies) {
  return combined_moments(static_cast<int>(bodies.size()),
                          [&](int i) -> const Vec4& { return bodies[static_cast<std::size_t>(i)]; });
}

Vec3d direct_sum(std::span<const Vec4> bodies, Vec3 point, const Law& law) {
  Vec3d sum;
  visit_pair_law<double>(law, [&](const auto& pair_law) {
    for (const Vec4& body : bodies) {
      add_pull(sum, pair_law, double{point.x}, double{point.y}, double{point.z}, body);
    }
  });
  return sum;
}

/// |da| / |a| of the cell's pull on a point against the direct sum.
double error_at(std::span<const Vec4> bodies, Vec3 point, const Law& law, bool with_quadrupole) {
  const Moments cell = moments_of(bodies);
  const float dx = cell.center.x - point.x, dy = cell.center.y - point.y, dz = cell.center.z - point.z;
  Vec3 sum;
  visit_pair_law<float>(law, [&](const auto& pair_law) {
    if (with_quadrupole) {
      add_cell_pull(sum, pair_law, scalar_units(), dx, dy, dz, cell.center.w, quadrupole_of(cell.q));
    } else {
      add_pull_along(sum, pair_law, dx, dy, dz, cell.center.w);
    }
  });
  const Vec3d wanted = direct_sum(bodies, point, law);
  return std::hypot(sum.x - wanted.x, sum.y - wanted.y, sum.z - wanted.z) / std::hypot(wanted.x, wanted.y, wanted.z);
}

const Law no_softening{.softening = Law::min_softening}, soft{.softening = 2.0f};

TEST(Multipole, ErrorsFallWithTheOrderOfTheExpansion) {
  const Bodies ball = test::random_ball(200);
  for (const Law& law : {no_softening, soft}) {
    double before[2] = {1, 1};
    for (const float distance : {60.0f, 120.0f, 240.0f}) {
      for (const bool quadrupole : {false, true}) {
        const double error =
            error_at(ball.positions, {0.6f * distance, -0.64f * distance, 0.48f * distance}, law, quadrupole);
        // A monopole's error falls by 4 with twice the distance, a quadrupole's by 8, until rounding is met.
        EXPECT_LT(error, before[quadrupole] / (quadrupole ? 6 : 3) + 3e-7) << distance << quadrupole;
        before[quadrupole] = error;
      }
      EXPECT_LT(before[1], before[0]);
    }
  }
}

TEST(Multipole, TheQuadrupoleIsExactToSecondOrderUnderSoftening) {
  // Two equal bodies: the third moments vanish, so what is left is of fourth order in 0.1 / R.
  for (const float softening : {1e-6f, 1.0f, 5.0f}) {
    const Vec4 pair[] = {{0.1f, 0, 0, 1}, {-0.1f, 0, 0, 1}};
    for (const Vec3 point : {Vec3{2, 0, 0}, Vec3{0, 2, 0}, Vec3{1, 1, -1.4f}}) {
      EXPECT_LT(error_at(pair, point, {.softening = softening}, true), 5e-5);
      EXPECT_GT(error_at(pair, point, {.softening = softening}, false), 1e-4);
    }
  }
}

TEST(Multipole, RepulsionIsTheMonopoles) {
  const Bodies ball = test::random_ball(200);
  const Law law{.id = LawId::attract_repel, .softening = 0.05f, .repulsion = 0.5f};
  EXPECT_LT(error_at(ball.positions, {30, 40, 0}, law, true), 5e-4);
}

TEST(Multipole, CombinedCellsEqualTheirBodies) {
  Bodies ball = test::random_ball(320);
  for (Vec4& p : ball.positions) p.x += 1000;  // far from the origin
  const std::span<const Vec4> bodies = ball.positions;
  Moments parts[8];
  for (std::size_t c = 0; c < 8; ++c) parts[c] = moments_of(bodies.subspan(c * 40, 40));
  const Moments all = moments_of(bodies), sum = combined_moments(8, [&](int i) -> const Moments& { return parts[i]; });
  EXPECT_NEAR(sum.center.x, all.center.x, 1e-4);
  EXPECT_NEAR(sum.center.y, all.center.y, 1e-5);
  EXPECT_NEAR(sum.center.z, all.center.z, 1e-5);
  EXPECT_NEAR(sum.center.w, all.center.w, 1e-6);
  const double scale = all.q.xx + all.q.yy + all.q.zz;
  EXPECT_NEAR(sum.q.xx, all.q.xx, 1e-4 * scale);
  EXPECT_NEAR(sum.q.yy, all.q.yy, 1e-4 * scale);
  EXPECT_NEAR(sum.q.zz, all.q.zz, 1e-4 * scale);
  EXPECT_NEAR(sum.q.xy, all.q.xy, 1e-4 * scale);
  EXPECT_NEAR(sum.q.xz, all.q.xz, 1e-4 * scale);
  EXPECT_NEAR(sum.q.yz, all.q.yz, 1e-4 * scale);
}

/// The largest |da| / |a| in a cube of side 2 around the origin, of the expansion there of a cell of these bodies.
double local_error(std::span<const Vec4> bodies, const Law& law) {
  const Moments cell = moments_of(bodies);
  const Vec4& at = cell.center;
  LocalExpansion<float> expansion{};
  const Gravity<float> pair_law{law.softening * law.softening};
  add_distant_cell(expansion, pair_law.inverse_distance(at.x, at.y, at.z), at.x, at.y, at.z, at.w,
                   quadrupole_of(cell.q));
  double worst = 0;
  for (const Vec3& y : {Vec3{1, 1, 1}, Vec3{-1, 1, 1}, Vec3{1, -1, 1}, Vec3{1, 1, -1}, Vec3{-1, -1, -1},
                        Vec3{0.5f, 0, 0}, Vec3{0, 0.5f, 0}, Vec3{0, 0, 0.5f}, Vec3{0.3f, -0.7f, 0.2f}}) {
    const Vec3 pull = pull_at(expansion, y.x, y.y, y.z);
    const Vec3d wanted = direct_sum(bodies, y, law);
    worst = std::max(worst, std::hypot(pull.x - wanted.x, pull.y - wanted.y, pull.z - wanted.z) /
                                std::hypot(wanted.x, wanted.y, wanted.z));
  }
  return worst;
}

TEST(LocalExpansion, TheErrorOfABodyFallsWithTheFourthPowerOfItsDistance) {
  for (const float softening : {Law::min_softening, 1.0f, 4.0f}) {
    for (const Vec3& way : {Vec3{0.6f, -0.64f, 0.48f}, Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) {
      double before = 1;
      for (const float distance : {8.0f, 16.0f, 32.0f, 64.0f}) {
        const Vec4 body{distance * way.x, distance * way.y, distance * way.z, 3};
        const double error = local_error({&body, 1}, {.softening = softening});
        // Where the softening is as large as the distance, the first neglected term does not dominate yet.
        EXPECT_LT(error, before / (softening > 1 ? 6 : 12) + 3e-7) << distance << ' ' << softening;
        EXPECT_LT(error, 100 / (distance * distance * distance * distance) + 3e-7) << distance << ' ' << softening;
        before = error;
      }
    }
  }
}

TEST(LocalExpansion, TheErrorOfACellFallsWithTheThirdPowerOfItsDistance) {
  for (const float softening : {Law::min_softening, 1.0f}) {
    double before = 1;
    for (const float distance : {8.0f, 16.0f, 32.0f, 64.0f}) {
      Bodies ball = test::random_ball(200);
      for (Vec4& p : ball.positions) {
        p = {p.x + 0.6f * distance, p.y - 0.64f * distance, 2 * p.z + 0.48f * distance, p.w};  // with a quadrupole
      }
      const double error = local_error(ball.positions, {.softening = softening});
      EXPECT_LT(error, before / 6 + 5e-7) << distance << ' ' << softening;
      before = error;
    }
    EXPECT_LT(before, 2e-4);
  }
}

TEST(LocalExpansion, AtItsCenterItPullsLikeTheCell) {
  const Bodies ball = test::random_ball(50);
  const Moments cell = moments_of(ball.positions);
  const float dx = 5, dy = -7, dz = 3;
  const Gravity<float> law{0.01f};
  Vec3 wanted;
  add_cell_pull(wanted, law, scalar_units(), dx, dy, dz, cell.center.w, quadrupole_of(cell.q));
  LocalExpansion<float> expansion{};
  add_distant_cell(expansion, law.inverse_distance(dx, dy, dz), dx, dy, dz, cell.center.w, quadrupole_of(cell.q));
  const Vec3 pull = pull_at(expansion, 0.0f, 0.0f, 0.0f);
  EXPECT_FLOAT_EQ(pull.x, wanted.x);
  EXPECT_FLOAT_EQ(pull.y, wanted.y);
  EXPECT_FLOAT_EQ(pull.z, wanted.z);
}

TEST(LocalExpansion, HasFiniteTermsAsFarAsItIsUsed) {
  for (const float distance : {1e-3f, 1e3f, farthest_local}) {
    const Vec4 body{0.6f * distance, 0, 0.8f * distance, 1};
    LocalExpansion<float> expansion{};
    add_distant_cell(expansion, 1 / distance, body.x, body.y, body.z, body.w, {});
    for (const float term : expansion.at) EXPECT_TRUE(std::isfinite(term));
    EXPECT_NE(expansion.at[LocalExpansion<float>::xxxx], 0);
  }
}

TEST(Multipole, OneBodyHasNoSecondMomentsAndFarCellsStayFinite) {
  const Vec4 body{1e3f, -2e3f, 3e3f, 0.5f};
  const Moments one = moments_of({&body, 1});
  EXPECT_EQ(one.center, body);
  EXPECT_EQ(one.q.xx, 0);
  const auto wide_error = [](float scale, float mass = 1) {
    const Vec4 wide[] = {{-scale, 0, 0, mass}, {scale, 0.1f * scale, 0, mass}};
    return error_at(wide, {0, 0, 10 * scale}, {}, true);
  };
  EXPECT_LT(wide_error(1e7f), 1e-3);
  EXPECT_LT(wide_error(1e8f), 1e-3);
  EXPECT_LT(wide_error(1e10f, 1e15f), 1e-3);
  EXPECT_LT(wide_error(1e12f), 2e-2) << "the quadrupole underflows; the monopole is left";
}

// Moments and expansions of high order against fp64 direct sums over the bodies that they stand for.

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
