// Names and instances of a tunable's values come from one list.
#include "compute/kernels/dispatch.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/tree_tunables.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

enum class Colour { red, green, blue };
constexpr Values<1, 32, 48, 100> numbers;
constexpr auto numbers_or_auto = numbers.names_after("auto");
constexpr Values<Colour::red, Colour::green> colours{"red", "green"};
constexpr Tunable tunable{.name = "unroll", .notes = "", .values = numbers_or_auto, .initial = "auto"};

std::vector<std::string> words(std::span<const char* const> names) {
  return {names.begin(), names.end()};
}

TEST(Dispatch, EveryNameHasItsInstance) {
  for (const char* name : numbers.names()) {
    const int value = numbers.find(name);
    EXPECT_EQ(std::to_string(value), name);
    EXPECT_EQ(numbers.dispatch(value, [](auto constant) { return decltype(constant)::value; }), value);
  }
  EXPECT_EQ(colours.find("green"), Colour::green);
  EXPECT_EQ(colours.dispatch(Colour::green, [](auto constant) { return decltype(constant)::value; }), Colour::green);
}

TEST(Dispatch, NamesStandInTheOrderOfTheList) {
  EXPECT_EQ(words(numbers.names()), (std::vector<std::string>{"1", "32", "48", "100"}));
  EXPECT_EQ(words(tunable.values), (std::vector<std::string>{"auto", "1", "32", "48", "100"}));
  EXPECT_EQ(words(colours.names()), (std::vector<std::string>{"red", "green"}));
}

TEST(Dispatch, AValueWithoutAnInstanceThrows) {
  for (const int value : {0, 2, 31, 49, -1}) {
    EXPECT_THROW(numbers.dispatch(value, [](auto) {}), std::logic_error) << value;
  }
  EXPECT_THROW(colours.dispatch(Colour::blue, [](auto) {}), std::logic_error);
  EXPECT_THROW(numbers.find("auto"), std::logic_error);
  EXPECT_THROW(colours.find("blue"), std::logic_error);
}

TEST(Dispatch, TheLargestValueMayHaveAnyPlace) {
  EXPECT_EQ(numbers.largest, 100);
  EXPECT_EQ((Values<3, 7, 5>::largest), 7);
}

TEST(Dispatch, ATextWithoutAMeaningThrows) {
  static constexpr const char* orders[] = {"octupole", "quadrupole"};
  static constexpr Tunable order{.name = "order", .notes = "", .values = orders, .initial = "octupole"};
  KernelInfo kernel = *test::find_kernel("cpu-tree");
  kernel.tunables = {&order, 1};
  Settings settings{kernel};
  EXPECT_THROW(far_field(settings), std::logic_error);
  settings.set("order", "quadrupole");
  EXPECT_EQ(far_field(settings), FarField::quadrupole);
}

}  // namespace
}  // namespace orrery
