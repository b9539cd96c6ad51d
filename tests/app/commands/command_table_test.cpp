// Holds for every command of both tables: its text and its JSON read back as the same command, its numbers have ranges,
// and every number out of its range is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "app/commands/command_json.h"
#include "app/commands/command_text.h"

namespace orrery {
namespace {

/// Values for an argument of this type, all of them allowed.
template <class A>
std::vector<typename A::Value> values_for(const A& argument) {
  using Value = typename A::Value;
  if constexpr (is_number<Value>) {
    std::vector<Value> values;
    const Range<Value>& range = argument.range;
    if (!range.open) values = {range.least, range.most};
    for (const double value : {1e-30, 0.1, 0.5, 1.0, 2.0, 7.0, 1000.0, 1e30}) {
      if (std::is_integral_v<Value> && (value < 1 || value > 1e9)) continue;
      if (range.contains(static_cast<Value>(value))) values.push_back(static_cast<Value>(value));
    }
    for (Value& value : values) value -= argument.first;
    if (argument.word && !argument.word_is_none()) values.push_back(argument.word_number);
    return values;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return {false, true};
  } else if constexpr (std::is_enum_v<Value>) {
    std::vector<Value> values;
    for (const auto& [value, word] : EnumWords<Value>::all()) values.push_back(value);
    return values;
  } else if constexpr (std::is_same_v<Value, Settings::Values>) {
    return {{{"block", "256"}}, {{"block", "auto"}, {"split", "8"}}};
  } else {
    std::vector<std::string> values;
    for (const std::string text :
         {"leapfrog", "gravity", "plummer", "cuda-tiled", "a b.png", "run #1 \"x\".png", "name=a"}) {
      try {
        if (argument.check) argument.check(text);
        values.push_back(text);
      } catch (const UsageError&) {
        // a name of something else
      }
    }
    return values;
  }
}

/// The members that the argument may be.
template <class A>
std::vector<typename A::Member> members_for(const A& argument) {
  const auto values = values_for(argument);
  if constexpr (is_list<A>) {
    std::vector<typename A::Value> list;
    for (const auto& value : values) {
      if (value_text(argument, value).find(',') == std::string::npos) list.push_back(value);
    }
    return {{list.front()}, list};
  } else {
    std::vector<typename A::Member> members;
    for (const auto& value : values) members.emplace_back(value);
    if constexpr (is_optional<typename A::Member>) {
      if (argument.word_is_none()) members.emplace_back(std::nullopt);
    }
    return members;
  }
}

/// Commands in which each argument has each of its values, and at least one.
template <class Row>
std::vector<typename Row::Command> samples(const Row& row) {
  using C = typename Row::Command;
  const C initial{};
  C all{};
  for_each_of(row.arguments, [&](const auto& argument) { argument.of(all) = members_for(argument).front(); });
  std::vector<C> samples{all};
  for_each_of(row.arguments, [&](const auto& argument) {
    for (const auto& member : members_for(argument)) {
      samples.push_back(all);
      argument.of(samples.back()) = member;
    }
    if (!argument.optional) return;
    samples.push_back(all);
    argument.of(samples.back()) = argument.of(initial);
  });
  return samples;
}

template <class C>
void expect_equal(const Request& read, const C& command) {
  const auto* same = [&]() -> const C* {
    const C* found = nullptr;
    std::visit(
        [&](const auto& commands) {
          std::visit(
              [&](const auto& one) {
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(one)>, C>) found = &one;
              },
              commands);
        },
        read);
    return found;
  }();
  ASSERT_TRUE(same) << "another command";
  for_each_of(row_of<C>().arguments,
              [&](const auto& argument) { EXPECT_TRUE(argument.of(*same) == argument.of(command)) << argument.name; });
}

TEST(CommandTable, EveryCommandReadsBackFromItsTextAndItsJson) {
  for_each_of(all_commands, [](const auto& row) {
    for (const auto& command : samples(row)) {
      const std::string text = command_text(as_request(command));
      SCOPED_TRACE(text);
      expect_equal(parse_command(text), command);
      const std::string json = command_json(as_request(command)).dump();
      SCOPED_TRACE(json);
      expect_equal(command_of_json_text(json), command);
    }
  });
}

TEST(CommandTable, NamesAreUniqueAndEveryRowHasASentence) {
  std::set<std::string> names;
  for_each_of(all_commands, [&](const auto& row) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(std::string{row.sentence}.ends_with('.')) << row.name;
    std::set<std::string> arguments;
    for_each_of(row.arguments, [&](const auto& argument) {
      EXPECT_TRUE(arguments.insert(argument.name).second) << row.name << ' ' << argument.name;
    });
    for (const ShortForm& form : row.short_forms) {
      if (!form.word) continue;
      EXPECT_TRUE(names.insert(form.word).second) << form.word;
      EXPECT_TRUE(std::string{form.text}.starts_with(std::string{row.name} + ' ')) << form.word;
    }
  });
  EXPECT_EQ(names.contains("kernel") && names.contains("resume"), true);
}

/// Gives the argument this number, and expects text, JSON and the check of a command's value to refuse it.
template <class Row, class A, class Number>
void expect_refused(const Row& row, const A& argument, Number number) {
  const std::string text = shortest_text(number);
  SCOPED_TRACE(std::string{row.name} + ' ' + argument.name + ' ' + text);
  const auto expect_range = [&](auto&& action) {
    try {
      action();
      ADD_FAILURE() << "it is accepted";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string{error.what()}.find(argument.range.to_string()), std::string::npos) << error.what();
    }
  };
  typename Row::Command command = samples(row).front();
  expect_range([&] {
    typename A::Member member{};
    read_argument(argument, argument.name, text, member);
  });
  Json json = command_json(as_request(command));
  json[argument.name] = is_list<A> ? Json::array({number}) : Json(number);
  expect_range([&] { (void)command_of(json); });
  if constexpr (is_list<A>) {
    argument.of(command) = {number};
  } else {
    argument.of(command) = static_cast<typename A::Value>(number - argument.first);
  }
  expect_range([&] { check_arguments(row, command); });
}

TEST(CommandTable, EveryNumberIsRefusedOutOfItsRange) {
  int checked = 0;
  for_each_of(all_commands, [&](const auto& row) {
    for_each_of(row.arguments, [&](const auto& argument) {
      using A = std::remove_cvref_t<decltype(argument)>;
      using Value = typename A::Value;
      if constexpr (is_number<Value>) {
        ASSERT_LT(argument.range.least, argument.range.most) << row.name << ' ' << argument.name << " has no range";
        ++checked;
        const Range<Value>& range = argument.range;
        if constexpr (std::is_integral_v<Value>) {
          // Other tests are about counts, which are read as "16k", too.
          if (argument.form == Form::count) return;
          const bool word_below = argument.word && argument.word_number == range.least - 1;
          if constexpr (std::is_signed_v<Value>) {
            expect_refused(row, argument, static_cast<Value>(range.least - (word_below ? 2 : 1)));
          }
          if (range.bounded()) expect_refused(row, argument, static_cast<Value>(range.most + 1));
        } else {
          const Value infinity = std::numeric_limits<Value>::infinity();
          if (range.open) {
            if (!argument.word) expect_refused(row, argument, range.least);
            expect_refused(row, argument, range.most);
          }
          expect_refused(row, argument, std::nextafter(range.least, -infinity));
          if (range.bounded()) expect_refused(row, argument, std::nextafter(range.most, infinity));
          expect_refused(row, argument, infinity);
          expect_refused(row, argument, std::numeric_limits<Value>::quiet_NaN());
        }
      }
    });
  });
  EXPECT_GT(checked, 25);
}

TEST(CommandTable, CountsOfBodiesAreRefusedOutOfTheirRange) {
  for (const char* text : {"scene n=0", "scene n=-1", "scene n=2147483648", "scene n=2048M", "sweep n=0",
                           "sweep n=4k,0", "return-to cpu-simd leapfrog 0.1 n=0"}) {
    EXPECT_THROW((void)parse_command(text), UsageError) << text;
  }
  for (const char* json : {R"({"command": "scene", "n": 0})", R"({"command": "sweep", "n": [0]})",
                           R"({"command": "sweep", "n": [2147483648]})"}) {
    EXPECT_THROW((void)command_of_json_text(json), UsageError) << json;
  }
  EXPECT_THROW(check_arguments(row_of<LoadScene>(), LoadScene{{.count = -5}}), UsageError);
  EXPECT_THROW(check_arguments(row_of<StartSweep>(), StartSweep{.kernels = {}, .tunables = {}, .counts = {5, 0}}),
               UsageError);
}

}  // namespace
}  // namespace orrery
