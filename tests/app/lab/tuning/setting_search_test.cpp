// The search for the setting that just meets an accuracy, with errors of the test's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "app/lab/tuning/candidates.h"

namespace orrery {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A search over the numbers of a range, from the middle unless told otherwise.
class SettingSearch : public testing::Test {
 protected:
  using ErrorOf = std::function<double(double setting)>;

  /// The setting that was found; NaN if there is none.
  double search(const ErrorOf& error_of, double target) {
    tried.clear();
    const auto found = search_setting(settings, first, target, most_trials, [&](std::size_t index) {
      EXPECT_EQ(std::ranges::count(tried, settings.at(index)), 0) << settings[index] << " twice";
      tried.push_back(settings[index]);
      return SettingTrial{error_of(settings[index]), slow_below > settings[index]};
    });
    EXPECT_LE(tried.size(), static_cast<std::size_t>(most_trials));
    if (!found) return not_a_number;
    EXPECT_TRUE(std::ranges::count(tried, settings[*found])) << "it was measured";
    EXPECT_LE(error_of(settings[*found]), target);
    return settings[*found];
  }

  std::vector<double> settings = two_digit_numbers({0.05, 1.0});
  std::size_t first = settings.size() / 2;
  double slow_below = 0;
  int most_trials = most_setting_trials;
  std::vector<double> tried;
};

TEST(TwoDigitNumbers, AreThoseOfTheRange) {
  EXPECT_EQ(two_digit_numbers({0.097, 0.12}), (std::vector<double>{0.097, 0.098, 0.099, 0.1, 0.11, 0.12}));
  EXPECT_EQ(two_digit_numbers({8, 11}), (std::vector<double>{8,   8.1, 8.2, 8.3, 8.4, 8.5, 8.6, 8.7, 8.8, 8.9, 9,
                                                             9.1, 9.2, 9.3, 9.4, 9.5, 9.6, 9.7, 9.8, 9.9, 10,  11}));
  EXPECT_EQ(two_digit_numbers({0.3, 0.3}), (std::vector<double>{0.3}));
  const std::vector<double> all = two_digit_numbers({1e-8, 1e-2});
  EXPECT_EQ(all.size(), 541u);
  EXPECT_EQ(all.front(), 1e-8);
  EXPECT_EQ(all.back(), 1e-2);
  EXPECT_TRUE(std::ranges::is_sorted(all));
}

TEST_F(SettingSearch, FindsTheLargestOfAPowerLawFromAnyStart) {
  for (const double power : {0.3, 0.65, 1.0, 2.0, 4.0, 6.0}) {
    const auto error_of = [&](double setting) { return 1e-2 * std::pow(setting, power); };
    for (const double wanted : {0.06, 0.11, 0.33, 0.7, 0.95}) {
      for (const std::size_t start : {std::size_t{0}, settings.size() / 2, settings.size() - 1}) {
        first = start;
        const double target = error_of(wanted);
        const double found = search(error_of, target);
        // Within 8 % of the target, or the last below it.
        const double next = *std::ranges::upper_bound(settings, found);
        EXPECT_TRUE(error_of(found) >= 0.92 * target || error_of(next) > target)
            << power << ' ' << wanted << ' ' << start << ": " << found;
      }
    }
  }
}

TEST_F(SettingSearch, TakesFewTrialsOverSixDecades) {
  settings = two_digit_numbers({1e-8, 1e-2});
  for (const double target : {1e-6, 1e-5, 1e-4, 1e-3}) {
    first = static_cast<std::size_t>(std::ranges::find(settings, 1e-3) - settings.begin());
    // As a tree: theta limits the error above, rounding below.
    search([](double setting) { return 1 / (1 / (0.1 * std::pow(setting, 0.65)) + 1 / 3e-3) + 2e-7; }, target);
    EXPECT_LE(tried.size(), 6u) << target;
  }
}

TEST_F(SettingSearch, OneTrialIsEnoughWhereItIsCloseToTheTarget) {
  first = 7;
  EXPECT_EQ(search([](double) { return 0.95e-4; }, 1e-4), settings[7]);
  EXPECT_EQ(tried.size(), 1u);
}

TEST_F(SettingSearch, AnErrorThatIsTheTargetMeetsIt) {
  EXPECT_EQ(search([](double) { return 1e-4; }, 1e-4), settings[first]);
}

TEST_F(SettingSearch, IsTheLargestWhereAllMeetTheTarget) {
  first = 0;
  EXPECT_EQ(search([](double) { return 1e-9; }, 1e-4), 1.0);
  EXPECT_EQ(search([](double) { return 0; }, 1e-4), 1.0) << "an error without a logarithm";
  EXPECT_LE(tried.size(), 6u);
}

TEST_F(SettingSearch, IsNoneWhereNoneMeetsTheTarget) {
  first = settings.size() - 1;
  for (const double error : {1e-3, infinity, not_a_number}) {
    EXPECT_TRUE(std::isnan(search([&](double) { return error; }, 1e-4))) << error;
    EXPECT_EQ(tried.back(), 0.05) << "the most accurate was tried";
    EXPECT_LE(tried.size(), 5u);
  }
}

TEST_F(SettingSearch, NoTrialIsFarFromTheOneBefore) {
  first = settings.size() - 1;
  search([](double setting) { return setting > 0.9 ? 1e-2 : 0.999e-2; }, 1e-9);
  for (std::size_t i = 1; i < tried.size(); ++i) EXPECT_GE(tried[i], tried[i - 1] / 2.25);
}

TEST_F(SettingSearch, NothingBelowASlowOneThatFailsIsTried) {
  slow_below = 0.3;
  const auto error_of = [](double setting) { return 1e-3 * setting; };
  EXPECT_TRUE(std::isnan(search(error_of, 1e-9)));
  EXPECT_EQ(std::ranges::count_if(tried, [](double setting) { return setting < 0.3; }), 1);
  first = 0;
  EXPECT_NEAR(search(error_of, 2.9e-4), 0.27, 0.02) << "slow ones that meet the target are found";
}

TEST_F(SettingSearch, OneSettingIsTriedOnce) {
  settings = {0.5};
  first = 3;
  EXPECT_EQ(search([](double) { return 1e-6; }, 1e-4), 0.5);
  EXPECT_TRUE(std::isnan(search([](double) { return 1e-3; }, 1e-4)));
  EXPECT_TRUE(std::isnan(search([](double) { return not_a_number; }, 1e-4)));
  EXPECT_EQ(tried.size(), 1u);
}

TEST_F(SettingSearch, NoiseAndBumpsDoNotMatterToWhatIsFound) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const auto error_of = [&](double setting) {
      const double noise = std::sin(seed * 977.0 * setting) * 0.5;
      return 1e-2 * std::pow(setting, 3) * std::exp(noise);
    };
    const double found = search(error_of, 1e-4);  // search() checks that it meets the target
    EXPECT_GT(found, 0.12) << seed;
    EXPECT_LT(found, 0.32) << seed;
  }
}

TEST_F(SettingSearch, AStepOfTheErrorsIsFoundByBisection) {
  const double found = search([](double setting) { return setting > 0.41 ? not_a_number : 1e-6; }, 1e-4);
  EXPECT_LE(found, 0.41);
  EXPECT_GE(found, 0.37);
}

TEST_F(SettingSearch, ANanIsPassedOver) {
  first = 0;
  EXPECT_NEAR(search([](double setting) { return setting > 0.4 ? not_a_number : 1e-2 * std::pow(setting, 3); }, 1e-4),
              0.21, 0.01);
}

TEST_F(SettingSearch, PassesOnWhatATrialThrows) {
  EXPECT_THROW(search([](double) -> double { throw std::runtime_error("it broke"); }, 1e-4), std::runtime_error);
}

TEST_F(SettingSearch, EndsAfterTheTrialsThatItIsAllowed) {
  const auto error_of = [](double setting) { return std::pow(setting, 4); };
  search(error_of, 1e-3);
  ASSERT_GT(tried.size(), 2u);
  most_trials = 2;
  search(error_of, 1e-3);
  EXPECT_EQ(tried.size(), 2u);
}

}  // namespace
}  // namespace orrery
