#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "compute/scenes/galaxy.h"

namespace orrery {
namespace {

/// An exponential disc in a flat rotation curve.
StationaryDisc flat_disc(double dispersion) {
  StationaryDisc::Profile profile;
  for (int i = 0; i < StationaryDisc::size; ++i) {
    const double radius = StationaryDisc::radius(i);
    profile.circular_sq.push_back(1);
    profile.surface_density.push_back(std::exp(-radius));
    profile.dispersion_sq.push_back(std::exp(-radius));
  }
  return {std::move(profile), 2, dispersion};
}

struct Moments {
  double outward_sq = 0, along = 0, along_sq = 0;
};

Moments moments_at(const StationaryDisc& disc, double radius) {
  constexpr int draws = 200000;
  Random random{3};
  Moments sums;
  for (int i = 0; i < draws; ++i) {
    const auto [outward, along] = disc.draw(radius, random);
    sums.outward_sq += outward * outward / draws;
    sums.along += along / draws;
    sums.along_sq += along * along / draws;
  }
  return sums;
}

TEST(StationaryDisc, HasTheDispersionAskedFor) {
  for (const double dispersion : {0.05, 0.3}) {
    EXPECT_NEAR(std::sqrt(moments_at(flat_disc(dispersion), 2).outward_sq), dispersion, 0.02 * dispersion);
  }
}

/// <v_phi^2> = v_c^2 + sigma^2 (1 + d ln(density sigma^2) / d ln R), also where the dispersion is a third of the speed.
TEST(StationaryDisc, SatisfiesTheJeansEquation) {
  const StationaryDisc disc = flat_disc(0.3);
  for (const double radius : {1.0, 2.0, 3.0, 4.0}) {
    SCOPED_TRACE(radius);
    constexpr double step = 0.2;
    const Moments here = moments_at(disc, radius);
    const double below = moments_at(disc, radius - step).outward_sq, above = moments_at(disc, radius + step).outward_sq;
    const double slope = radius * (std::log(above / below) / (2 * step) - 1);
    EXPECT_NEAR(here.along_sq, 1 + here.outward_sq * (1 + slope), 0.02);
    EXPECT_LT(here.along, 0.99) << "no asymmetric drift";
  }
}

TEST(StationaryDisc, AColdOneMovesOnCirclesWithEpicycles) {
  const Moments at = moments_at(flat_disc(0.05), 2);
  EXPECT_NEAR(at.along, 1, 0.01);
  const double along_variance = at.along_sq - at.along * at.along;
  EXPECT_NEAR(along_variance / at.outward_sq, 0.5, 0.03);  // (kappa / 2 Omega)^2
}

}  // namespace
}  // namespace orrery
