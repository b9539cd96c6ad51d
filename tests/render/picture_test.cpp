#include "tests/render/picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/render/stage.h"

namespace orrery::render::test {
namespace {

/// Two tilted discs with arms, by formula alone: the same on every machine.
Image two_discs(Stage& stage, float tilt) {
  std::vector<glm::vec4> positions, velocities;
  for (int i = 0; i < 3000; ++i) {
    const auto rank = static_cast<float>(i / 2) / 1500.0f;
    const bool first = i % 2 == 0;
    const float radius = (first ? 0.8f : 0.45f) * std::pow(rank, 0.8f);
    const float angle = 2.3999632f * static_cast<float>(i) + 0.5f * std::sin(9.0f * radius);
    const glm::vec3 flat{radius * std::cos(angle), radius * std::sin(angle), 0.0f};
    const float lean = first ? tilt : -1.0f;
    const glm::vec3 centre = first ? glm::vec3{-0.5f, 0, 0} : glm::vec3{0.85f, 0.3f, 0.2f};
    positions.emplace_back(centre + glm::vec3{flat.x, flat.y * std::cos(lean), flat.y * std::sin(lean)}, 1.0f);
    velocities.emplace_back(1.0f - radius, 0.0f, 0.0f, 0.0f);
  }
  stage.camera.frame({0.0f, 0.0f, 0.0f}, 1.2f);
  return stage.picture(positions, velocities, 160, 90);
}

TEST(Picture, OfTwoDiscsIsTheOneThatWasAgreedUpon) {
  Stage stage;
  const Image made = two_discs(stage, 0.3f);
  const std::filesystem::path kept = std::filesystem::path{ORRERY_MADE_PICTURES} / "two_discs.png";
  std::ofstream{kept} << encode_png(made);
  const auto [mean, share_off] = difference(made, read_png(ORRERY_REFERENCE_PICTURES "/two_discs.png"));
  EXPECT_TRUE((Difference{mean, share_off}.small()))
      << "mean " << mean << ", share of pixels off " << share_off << "; if the change is meant, look at " << kept
      << " and copy it to " ORRERY_REFERENCE_PICTURES;
}

TEST(Picture, OfAnotherSceneIsToldApart) {
  Stage stage;
  EXPECT_FALSE(difference(two_discs(stage, 0.6f), read_png(ORRERY_REFERENCE_PICTURES "/two_discs.png")).small());
}

TEST(Picture, OfAnotherExposureIsToldApart) {
  Stage stage;
  stage.appearance.exposure = 0.8f;
  EXPECT_FALSE(difference(two_discs(stage, 0.3f), read_png(ORRERY_REFERENCE_PICTURES "/two_discs.png")).small());
}

}  // namespace
}  // namespace orrery::render::test
