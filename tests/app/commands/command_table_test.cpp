// Holds for every command of every table: its text and its JSON read back as the same command, its numbers have ranges,
// and every number out of its range is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "app/commands/argument_text.h"
#include "app/commands/command_entry.h"
#include "app/commands/command_text.h"
#include "commands_headers.inc"
#include "compute/sim/command_rows.h"

namespace orrery {
namespace {

/// Values for an argument of this type, all of them allowed.
template <class M>
auto values_for(const ArgumentOf<M>& argument) {
  using Value = typename ArgumentOf<M>::Value;
  std::vector<Value> values;
  if constexpr (is_number<Value>) {
    const Range<Value>& range = argument.range;
    if (!range.open) values = {range.least, range.most};
    for (const double value : {1e-30, 0.1, 0.5, 1.0, 2.0, 7.0, 1000.0, 1e30}) {
      if (std::is_integral_v<Value> && (value < 1 || value > 1e9)) continue;
      if (range.contains(static_cast<Value>(value))) values.push_back(static_cast<Value>(value));
    }
    for (Value& value : values) value -= argument.first;
    if (argument.word && !argument.word_is_none()) values.push_back(argument.word_number);
  } else if constexpr (std::is_same_v<Value, bool>) {
    values = {false, true};
  } else if constexpr (has_words<Value>) {
    for (const auto& [value, word] : EnumWords<Value>::all()) values.push_back(value);
  } else if constexpr (std::is_same_v<Value, Settings::Values>) {
    values = {{{"block", "256"}}, {{"block", "auto"}, {"split", "8"}}};
  } else if constexpr (std::is_same_v<Value, Units>) {
    values = {galactic_units, {kpc_cm, 1e10 * solar_mass_g}, {3.085678e21, 1.989e43 / 7, 1e5 / 3}};
  } else if (argument.words) {
    for (const std::string_view word : argument.words()) values.emplace_back(word);
  } else {
    for (const std::string text :
         {"leapfrog", "gravity", "plummer", "cuda-tiled", "a b.png", "a b.mp4", "run #1 \"x\".png", "name=a"}) {
      try {
        if (argument.check) argument.check(text);
        values.push_back(text);
      } catch (const UsageError&) {
        // a name of something else
      }
    }
  }
  return values;
}

/// The members that the argument may be.
template <class M>
std::vector<M> members_for(const ArgumentOf<M>& argument) {
  const auto values = values_for(argument);
  if constexpr (is_list<M>) {
    M list;
    for (const auto& value : values) {
      if (value_text(argument, value).find(',') == std::string::npos) list.push_back(value);
    }
    return {{list.front()}, list};
  } else {
    std::vector<M> members;
    for (const auto& value : values) members.emplace_back(value);
    if constexpr (is_optional<M>) {
      if (argument.word_is_none()) members.emplace_back(std::nullopt);
    }
    return members;
  }
}

/// A command in which every argument is given.
template <class C, class... Arguments>
C complete(const CommandRow<C, Arguments...>& row) {
  C all{};
  for_each_of(row.arguments, [&](const auto& argument) { argument.of(all) = members_for(argument).front(); });
  return all;
}

/// Commands in which each argument has each of its values, and at least one.
template <class C, class... Arguments>
std::vector<Request> samples(const CommandRow<C, Arguments...>& row) {
  const C initial{}, all = complete(row);
  std::vector<Request> samples{all};
  for_each_of(row.arguments, [&](const auto& argument) {
    C sample = all;
    for (const auto& member : members_for(argument)) {
      argument.of(sample) = member;
      samples.push_back(sample);
    }
    if (!argument.optional) return;
    argument.of(sample) = argument.of(initial);
    samples.push_back(sample);
  });
  return samples;
}

/// Calls visit(row) for each command.
void for_each_command(auto&& visit) {
  for_each_of(simulation_commands, visit);
#define X(table) for_each_of(table##_commands, visit);
#include "commands_list.inc"
#undef X
}

void expect_equal(const Request& read, const Request& command) {
  const CommandEntry& entry = entry_of(command);
  ASSERT_EQ(&entry_of(read), &entry) << "another command";
  for (const auto& argument : entry.arguments) EXPECT_TRUE(argument->equal(read, command)) << argument->name();
}

void expect_read_back(const Request& command) {
  const std::string text = command_text(command);
  SCOPED_TRACE(text);
  expect_equal(parse_command(text), command);
  const std::string json = command_json(command).dump();
  SCOPED_TRACE(json);
  expect_equal(command_of_json_text(json), command);
}

TEST(CommandTable, EveryCommandReadsBackFromItsTextAndItsJson) {
  for_each_command([](const auto& row) {
    for (const Request& command : samples(row)) expect_read_back(command);
  });
}

TEST(CommandTable, NamesAreUniqueAndEveryRowHasASentence) {
  std::set<std::string_view> names;
  for (const CommandEntry& entry : command_entries()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_TRUE(std::string_view{entry.sentence}.ends_with('.')) << entry.name;
    std::set<std::string_view> arguments;
    for (const auto& argument : entry.arguments) {
      EXPECT_TRUE(arguments.insert(argument->name()).second) << entry.name << ' ' << argument->name();
    }
    for (const ShortForm& form : entry.short_forms) {
      if (!form.word) continue;
      EXPECT_TRUE(names.insert(form.word).second) << form.word;
      EXPECT_TRUE(std::string_view{form.text}.starts_with(std::string{entry.name} + ' ')) << form.word;
    }
  }
  EXPECT_EQ(names.contains("kernel") && names.contains("resume"), true);
}

void expect_range(const std::string& range, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "it is accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string{error.what()}.find(range), std::string::npos) << error.what();
  }
}

/// Gives an argument a number, and expects text, JSON and the check of a command's value to refuse it. `request` has
/// the number, as scripts and JSON write it in `text` and `json`.
void expect_refused(const Request& request, std::string_view name, const std::string& range, const std::string& text,
                    const Json& number) {
  const CommandEntry& entry = entry_of(request);
  SCOPED_TRACE(std::string{entry.name} + ' ' + std::string{name} + ' ' + text);
  const auto& argument = *std::ranges::find(entry.arguments, name, [](const auto& a) { return a->name(); });
  Request read = entry.initial;
  expect_range(range, [&] { argument->read(name, text, read); });
  const Json json = argument->traits().is_list ? Json::array({number}) : number;
  expect_range(range, [&] { argument->read_json(name, json, read); });
  expect_range(range, [&] { entry.check(request); });
}

/// Numbers just out of the range of an argument, as users write them.
template <class M>
auto numbers_out_of_range(const ArgumentOf<M>& argument) {
  using Value = typename ArgumentOf<M>::Value;
  const Range<Value>& range = argument.range;
  std::vector<Value> numbers;
  if constexpr (std::is_integral_v<Value>) {
    const bool word_below = argument.word && argument.word_number == range.least - 1;
    if (std::is_signed_v<Value>) numbers.push_back(static_cast<Value>(range.least - (word_below ? 2 : 1)));
    if (range.bounded()) numbers.push_back(static_cast<Value>(range.most + 1));
  } else {
    const Value infinity = std::numeric_limits<Value>::infinity();
    if (range.open && !argument.word) numbers.push_back(range.least);
    if (range.open) numbers.push_back(range.most);
    numbers.push_back(std::nextafter(range.least, -infinity));
    if (range.bounded()) numbers.push_back(std::nextafter(range.most, infinity));
    numbers.push_back(infinity);
    numbers.push_back(std::numeric_limits<Value>::quiet_NaN());
  }
  return numbers;
}

TEST(CommandTable, EveryNumberIsRefusedOutOfItsRange) {
  int checked = 0;
  for_each_command([&](const auto& row) {
    for_each_of(row.arguments, [&](const auto& argument) {
      using A = std::remove_cvref_t<decltype(argument)>;
      using Value = typename A::Value;
      if constexpr (is_number<Value>) {
        ASSERT_LT(argument.range.least, argument.range.most) << row.name << ' ' << argument.name;
        ++checked;
        // Other tests are about counts, which are read as "16k", too.
        if (argument.form == Form::count) return;
        for (const Value number : numbers_out_of_range(argument)) {
          auto command = complete(row);
          argument.of(command) = typename A::Member{static_cast<Value>(number - argument.first)};
          expect_refused(command, argument.name, argument.range.to_string(), shortest_text(number), number);
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
  const auto check = [](const Request& request) { entry_of(request).check(request); };
  EXPECT_THROW(check(LoadScene{{.count = -5}}), UsageError);
  EXPECT_THROW(check(StartSweep{.kernels = {}, .tunables = {}, .counts = {5, 0}}), UsageError);
}

}  // namespace
}  // namespace orrery
