#include "tests/render/picture.h"

#include "render/colour_map.h"
#include "tests/render/stage.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

constexpr ColourBy by_inferno{.map = "inferno"};
constexpr ColourBy partly_known{.map = "inferno"};  // half of the bodies have a value

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
    const float mass = first ? 1.0f : 0.1f;
    positions.emplace_back(centre + glm::vec3{flat.x, flat.y * std::cos(lean), flat.y * std::sin(lean)}, mass);
    velocities.emplace_back(1.0f - radius, 0.0f, 0.0f, 0.0f);
  }
  stage.camera.frame({0.0f, 0.0f, 0.0f}, 1.2f);
  for (std::size_t i = 0; shows_values(stage.appearance) && i < positions.size(); ++i) {
    const float rank = static_cast<float>(i / 2) / 1500.0f;
    const auto part = static_cast<float>(i % 2 == 1 ? 1 : rank < 0.15f ? 2 : 0);
    const bool known = stage.appearance.colour_by != &partly_known || rank < 0.5f;
    stage.values.push_back(stage.appearance.colour_by == &by_part ? part
                           : known                                ? std::pow(10.0f, -3.0f * rank)
                                                                  : std::nanf(""));
  }
  stage.ranges = {.speed = {0.0f, 1.0f}, .mass = {0.1f, 1.0f}, .mass_per_area = {10.0f, 1e5f}, .value = {1e-3f, 1.0f}};
  return stage.picture(positions, velocities, 160, 90);
}

/// A way to draw, and the file of the picture that was agreed upon.
struct Way {
  const char* name;
  Appearance appearance;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

const Way ways[] = {
    {"two_discs", {}},
    {"two_discs_splats", {.drawing = Drawing::splats}},
    {"two_discs_by_mass", {.colour_by = &by_mass, .colour_map = 6}},
    {"two_discs_fixed_range", {.scale = Scale::logarithmic, .low = 0.3f, .high = 0.8f}},
    {"two_discs_by_acceleration", {.colour_by = &by_value, .colour_map = 6}},
    {"two_discs_by_species", {.colour_by = &by_part}},
    {"two_discs_by_species_splats", {.colour_by = &by_part, .drawing = Drawing::splats}},
    {"two_discs_by_local_density", {.colour_by = &by_value, .colour_map = 7}},
    {"two_discs_by_force_error", {.colour_by = &partly_known, .colour_map = 9}},
    {"two_discs_by_time_step_class", {.colour_by = &by_value, .colour_map = 6}},
    {"two_discs_by_distance", {.colour_by = &by_inferno}},
    {"two_discs_plain", {.colour_by = &by_nothing}},
    {"two_discs_inferno", {.colour_map = 7}},
    {"two_discs_density", {.look = Look::density, .colour_map = 7}},
    {"two_discs_density_splats", {.look = Look::density, .colour_map = 7, .drawing = Drawing::splats}},
    {"two_discs_light", {.theme = Theme::light}},
    {"two_discs_light_viridis", {.colour_map = 6, .theme = Theme::light}},
    {"two_discs_light_density", {.look = Look::density, .colour_map = 7, .theme = Theme::light}},
    {"two_discs_auto_exposure", {.exposure = 0.5f, .auto_exposure = true}},
};

class AgreedPicture : public testing::TestWithParam<Way> {};

TEST_P(AgreedPicture, IsMade) {
  Stage stage;
  stage.appearance = GetParam().appearance;
  const Image made = two_discs(stage, 0.3f);
  const std::string file = std::string{GetParam().name} + ".png";
  const std::filesystem::path kept = std::filesystem::path{ORRERY_MADE_PICTURES} / file;
  std::ofstream{kept} << encode_png(made);
  const auto [mean, share_off] = difference(made, read_png(ORRERY_REFERENCE_PICTURES "/" + file));
  EXPECT_TRUE((Difference{mean, share_off}.small()))
      << "mean " << mean << ", share of pixels off " << share_off << "; if the change is meant, look at " << kept
      << " and copy it to " ORRERY_REFERENCE_PICTURES;
}

INSTANTIATE_TEST_SUITE_P(Picture, AgreedPicture, testing::ValuesIn(ways),
                         [](const auto& info) { return std::string{info.param.name}; });

TEST(Picture, OfSplatsIsThatOfSprites) {
  for (const ColourBy* colour_by : {&by_speed, &by_part, &partly_known}) {
    Stage stage;
    stage.appearance = {.colour_by = colour_by, .drawing = Drawing::sprites};
    const Image sprites = two_discs(stage, 0.3f);
    stage.appearance.drawing = Drawing::splats;
    stage.values.clear();
    EXPECT_TRUE(difference(two_discs(stage, 0.3f), sprites).small()) << colour_by->map;
  }
}

TEST(Picture, OfABodyWithoutAValueIsGrey) {
  Stage stage;
  stage.appearance = {.colour_by = &partly_known};
  const auto middle = [&](float value) {
    stage.values = {value};
    return pixel(stage.picture({{0.0f, 0.0f, 0.0f, 1.0f}}), 64, 64);
  };
  stage.ranges.value = {1e-6f, 1.0f};
  const glm::ivec3 unknown = middle(std::nanf("")), least = middle(1e-6f), most = middle(1.0f);
  EXPECT_LE(std::max({unknown.r, unknown.g, unknown.b}) - std::min({unknown.r, unknown.g, unknown.b}), 1);
  EXPECT_NE(least, most);
  EXPECT_NE(unknown, least);
  EXPECT_EQ(middle(std::numeric_limits<float>::infinity()), most);
  EXPECT_EQ(middle(0.0f), least);
}

TEST(Picture, OfPartsHasTheirColours) {
  Stage stage;
  const auto middle = [&](float value) {
    stage.values = {value};
    return glm::vec3{pixel(stage.picture({{0.0f, 0.0f, 0.0f, 1.0f}}), 64, 64)};
  };
  // Light of a part has the hue of its colour: the shares of red, green and blue in linear light.
  const auto hue = [](glm::vec3 srgb) { return glm::normalize(linear_from_srgb(srgb)); };
  for (const Theme theme : {Theme::dark, Theme::light}) {
    for (const Drawing drawing : {Drawing::sprites, Drawing::splats}) {
      stage.appearance = {.colour_by = &by_part, .exposure = 0.04f, .drawing = drawing, .theme = theme};
      const auto colours = part_colours(theme);
      for (std::size_t i = 0; theme == Theme::dark && i < colours.size(); ++i) {
        EXPECT_LT(glm::length(hue(middle(static_cast<float>(i)) / 255.0f) - hue(colours[i])), 0.1f) << i;
      }
      std::set<std::array<float, 3>> different;
      for (std::size_t i = 0; i < colours.size(); ++i) {
        const glm::vec3 shown = middle(static_cast<float>(i));
        different.insert({shown.r, shown.g, shown.b});
      }
      EXPECT_EQ(different.size(), colours.size());
      const glm::vec3 unknown = middle(std::nanf(""));
      EXPECT_LE(std::max({unknown.r, unknown.g, unknown.b}) - std::min({unknown.r, unknown.g, unknown.b}), 4);
    }
  }
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
