// Holds for every command of every table: its text and its JSON read back as the same command, its numbers have ranges,
// and every number out of its range is refused.
#include <type_traits>
#include <variant>

#include "app/commands/argument_text.h"
#include "app/commands/command_entry.h"
#include "app/commands/command_text.h"
#include "app/commands/window_memory.h"
#include "app/ui_state/window_commands.h"
#include "commands_headers.inc"
#include "compute/core/error.h"
#include "compute/sim/command_rows.h"
#include "tests/app/support/test.h"

namespace orrery::test {
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

/// Gives an argument a number, and expects text, JSON and the check of a command's value to refuse it. `request` has
/// the number, as scripts and JSON write it in `text` and `json`.
void expect_refused(const Request& request, std::string_view name, const std::string& range, const std::string& text,
                    const Json& number) {
  const CommandEntry& entry = entry_of(request);
  SCOPED_TRACE(std::string{entry.name} + ' ' + std::string{name} + ' ' + text);
  const auto& argument = *std::ranges::find(entry.arguments, name, [](const auto& a) { return a->name(); });
  Request read = entry.initial;
  expect_usage_error({range}, [&] { argument->read(name, text, read); });
  const Json json = argument->traits().is_list ? Json::array({number}) : number;
  expect_usage_error({range}, [&] { argument->read_json(name, json, read); });
  expect_usage_error({range}, [&] { entry.check(request); });
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

// An error in a command is one line that names it and the valid choices.

template <class... Parts>
void expect_refused_text(const std::string& text, Parts... parts) {
  SCOPED_TRACE(text);
  expect_usage_error({parts...}, [&] { (void)parse_command(text); });
}

template <class... Parts>
void expect_refused_json(const std::string& text, Parts... parts) {
  SCOPED_TRACE(text);
  expect_usage_error({parts...}, [&] { (void)command_of_json_text(text); });
}

TEST(CommandText, ArgumentsStandInOrderOrByName) {
  const auto pin = *command_if<PinResult>(parse_command("pin pinned=off 3"));
  EXPECT_EQ(pin.row, 2);
  EXPECT_FALSE(pin.pinned);
  const auto set = std::get<SetTunable>(std::get<Command>(parse_command("set value=2 name=threads")));
  EXPECT_EQ(set.name, "threads");
  EXPECT_EQ(set.value, "2");
  const auto scene = std::get<LoadScene>(std::get<Command>(parse_command("scene disc n=4k seed=9"))).request;
  EXPECT_EQ(scene, (SceneRequest{.scene = "disc", .file = {}, .count = 4096, .seed = 9}));
}

TEST(CommandText, CountsObeyTheRangeOfTheirRow) {
  constexpr Argument<&ProbeForces::sample> sample{
      {.name = "sample", .range = {1, 4096, "bodies"}, .form = Form::count}};
  EXPECT_EQ(read_value(sample, "sample", "4k"), 4096);
  for (const char* text : {"0", "5k", "2147483648"}) {
    expect_usage_error({"sample", text, "from 1 to 4096 bodies"}, [&] { (void)read_value(sample, "sample", text); });
  }
  expect_refused_text("scene disc n=2147483648", "2147483648", "from 1 to 2147483647 bodies");
}

TEST(CommandText, ErrorsNameTheChoices) {
  expect_refused_text("", "command is missing", "screenshot");
  expect_refused_text("jmup", "'jmup'", "kernel", "resume");
  expect_refused_text("kernel", "'kernel'", "ID");
  expect_refused_text("step 3", "'step'", "no argument");
  expect_refused_text("step by=3", "'step'", "no argument");
  expect_refused_text("appearance color=mass", "'color'", "colour", "exposure");
  expect_refused_text("appearance colour=red", "'red'", "speed", "mass");
  expect_refused_text("appearance scale=root", "'root'", "auto", "log");
  expect_refused_text("appearance low=-2e30", "low", "from -1e30 to 1e30");
  expect_refused_text("appearance high=nan", "high", "a number");
  expect_refused_text("appearance exposure=1 exposure=2", "exposure", "twice");
  expect_refused_text("kernel cuda-tiled settings=block", "settings", "NAME=VALUE");
  expect_refused_text("integrator rk4", "'rk4'", "leapfrog");
  expect_refused_text("scene nebula", "'nebula'", "plummer");
  expect_refused_text("screenshot a.jpg", ".png");
}

TEST(CommandJson, ErrorsNameTheChoices) {
  expect_refused_json("", "not JSON");
  expect_refused_json("{\"command\": \"step\"", "not JSON");
  expect_refused_json("[]", "\"command\"");
  expect_refused_json("{}", "\"command\"");
  expect_refused_json(R"({"command": 3})", "\"command\"");
  expect_refused_json(R"({"command": "jump"})", "'jump'", "kernel", "quit");
  expect_refused_json(R"({"command": "resume"})", "'resume'", "pause");
  expect_refused_json(R"({"command": "kernel"})", "id", "kernel", "missing");
  expect_refused_json(R"({"command": "kernel", "id": 3})", "kernel id", "3", "text");
  expect_refused_json(R"({"command": "kernel", "id": "a", "settings": {"block": 256}})", "settings", "object");
  expect_refused_json(R"({"command": "step", "count": 3})", "'step'", "no argument", "count");
  expect_refused_json(R"({"command": "pin", "line": 3, "row": 1})", "'line'", "row");
  expect_refused_json(R"({"command": "dt", "value": "0.1"})", "dt", "above 0");
  expect_refused_json(R"({"command": "steps-per-frame", "steps": 2.5})", "2.5", "whole number", "1000");
  expect_refused_json(R"({"command": "steps-per-frame", "steps": [1]})", "an array", "1000");
  expect_refused_json(R"({"command": "vsync", "on": "on"})", "vsync", "true or false");
  expect_refused_json(R"({"command": "sweep", "tunables": "rows"})", "tunables", "array");
  expect_refused_json(R"({"command": "sweep", "tunables": ["a,b"]})", "tunables", "comma");
  expect_refused_json(R"({"command": "kernel", "id": "a", "settings": {"a=b": "c"}})", "settings", "'='");
  expect_refused_json(R"({"command": "lab", "tab": "kitchen"})", "'kitchen'", "conservation", "fold");
  expect_refused_json(R"({"command": "integrator", "id": "rk4"})", "'rk4'", "leapfrog");
  expect_refused_json(std::string(100'000, '['), "bytes");
}

TEST(CommandReference, HasEveryCommandWithItsSentence) {
  const std::string text = command_reference(), table = command_reference_markdown();
  for (const CommandEntry& entry : command_entries()) {
    for (const std::string& reference : {text, table}) {
      expect_holds(reference, {entry.name, entry.sentence});
    }
  }
  expect_holds(text, {"\nunpin ROW\n", "\nprobe on|off\n"});
}

TEST(CommandText, AColourMapHasANameAndANumber) {
  const auto map_of = [](const Request& request) { return command_if<SetAppearance>(request)->appearance.colour_map; };
  EXPECT_EQ(map_of(parse_command("appearance map=viridis")), 6);
  EXPECT_EQ(map_of(parse_command("appearance map=6")), 6);
  EXPECT_EQ(map_of(parse_command("appearance map=auto")), render::automatic_colour_map);
  EXPECT_EQ(map_of(command_of_json_text(R"({"command": "appearance", "map": "black-body"})")), 10);
  expect_refused_text("appearance map=virids", "virids", "stellar, ember", "viridis", "black-body", "0 to 11", "auto");
  expect_refused_json(R"({"command": "appearance", "map": "virids"})", "virids", "viridis", "auto");
}

namespace fs = std::filesystem;

struct WindowMemoryFile : testing::Test {
  ~WindowMemoryFile() override { fs::remove_all(folder_); }

  void write(const std::string& text) const {
    fs::create_directories(file_.parent_path());
    std::ofstream{file_, std::ios::trunc} << text;
  }

  const fs::path folder_ = fs::temp_directory_path() /
                           (std::string{"orrery_"} + testing::UnitTest::GetInstance()->current_test_info()->name());
  const fs::path file_ = folder_ / "orrery" / "window.json";
};

TEST_F(WindowMemoryFile, ComesBackAsItWent) {
  EXPECT_TRUE(read_window_memory(file_).sections.empty()) << "there is no file yet";
  WindowMemory memory;
  memory.sections = {{"scene", true}, {"speed-error", false}};
  memory.lab = ShowLab{"sweep"};
  memory.appearance = SetAppearance{{.colour_map = 1, .exposure = 2.5f}};
  memory.theme = SetTheme{render::Theme::light};
  memory.place = {-20, 40, {1000, 700}};
  write_window_memory(file_, memory);
  const WindowMemory read = read_window_memory(file_);
  EXPECT_EQ(read.sections, memory.sections);
  ASSERT_TRUE(read.lab && read.appearance);
  EXPECT_EQ(read.lab->tab, "sweep");
  EXPECT_EQ(read.appearance->appearance, memory.appearance->appearance);
  ASSERT_TRUE(read.theme);
  EXPECT_EQ(read.theme->theme, render::Theme::light);
  EXPECT_EQ(read.place, memory.place);

  write_window_memory(file_, {.sections = {}, .lab = ShowLab{}, .appearance = {}, .theme = {}, .place = {}});
  ASSERT_TRUE(read_window_memory(file_).lab);
  EXPECT_FALSE(read_window_memory(file_).lab->tab) << "folded";
  EXPECT_FALSE(read_window_memory(file_).appearance || read_window_memory(file_).theme ||
               read_window_memory(file_).place);
}

TEST_F(WindowMemoryFile, IsRefusedInOneLineIfItIsAnotherContent) {
  const std::string begin = R"({"program":"orrery","format":1)";
  write(begin + "}");
  EXPECT_NO_THROW((void)read_window_memory(file_));
  for (const std::string& text : {std::string{},
                                  std::string{"no JSON"},
                                  std::string{"[]"},
                                  std::string{R"({"program":"orrery"})"},
                                  std::string{R"({"program":"other","format":1})"},
                                  std::string{R"({"program":"orrery","format":2})"},
                                  begin + R"(,"sections":[1]})",
                                  begin + R"(,"sections":{"scene":1}})",
                                  begin + R"(,"sections":{"A name\n":true}})",
                                  begin + R"(,"lab":{"command":"quit"}})",
                                  begin + R"(,"lab":{"command":"save","file":"x"}})",
                                  begin + R"(,"lab":"sweep"})",
                                  begin + R"(,"appearance":{"command":"appearance","exposure":-1}})",
                                  begin + R"(,"appearance":{"command":"appearance","low":2,"high":1}})",
                                  begin + R"(,"appearance":{"command":"appearance","map":99}})",
                                  begin + R"(,"theme":{"command":"theme","theme":"pink"}})",
                                  begin + R"(,"theme":"light"})",
                                  begin + R"(,"window":{}})",
                                  begin + R"(,"window":7})",
                                  begin + R"(,"window":{"x":0,"y":0,"width":1e9,"height":7}})",
                                  begin + R"(,"window":{"x":0,"y":0,"width":18446744073709551615,"height":7}})",
                                  begin + R"(,"window":{"x":-99999,"y":0,"width":700,"height":500}})"}) {
    write(text);
    const std::string said = failure_of([&] { (void)read_window_memory(file_); }).message;
    EXPECT_TRUE(holds(said, "window.json") && !holds(said, "\n")) << text << ": " << said;
  }
  fs::remove(file_);
  fs::create_directories(file_);
  EXPECT_THROW((void)read_window_memory(file_), std::runtime_error) << "a folder";
}

TEST(WindowMemory, LiesInTheUsersConfiguration) {
  const Variable home{"HOME", "/house"};
  for (const auto& [configuration, file] :
       {std::pair{"/settings", "/settings/orrery/window.json"}, {"settings", "/house/.config/orrery/window.json"}}) {
    const Variable folder{"XDG_CONFIG_HOME", configuration};
    EXPECT_EQ(usual_memory_file(), file);
  }
  const Variable homeless{"HOME", nullptr}, folder{"XDG_CONFIG_HOME", "settings"};
  EXPECT_EQ(usual_memory_file(), "");
  EXPECT_NO_THROW(write_window_memory(usual_memory_file(), {}));
}

TEST(Words, TakeNamesAndQuotes) {
  std::string_view rest = "plain size=1e-3 file=\"a \\\"b\\\" # c.png\" last=";
  Word word = take_argument(rest);
  EXPECT_EQ(word.name, "");
  EXPECT_EQ(word.text, "plain");
  word = take_argument(rest);
  EXPECT_EQ(word.name, "size");
  EXPECT_EQ(word.text, "1e-3");
  word = take_argument(rest);
  EXPECT_EQ(word.name, "file");
  EXPECT_EQ(word.text, "a \"b\" # c.png");
  word = take_argument(rest);
  EXPECT_EQ(word.name, "last");
  EXPECT_EQ(word.text, "");
  EXPECT_EQ(rest, "");
}

TEST(Words, OnlyALowerCaseWordIsAName) {
  for (const std::string text : {"A=1", "a1=1", "=1", "./a=1"}) {
    std::string_view rest = text;
    const Word word = take_argument(rest);
    EXPECT_EQ(word.name, "") << text;
    EXPECT_EQ(word.text, text);
  }
}

TEST(Words, RefuseQuotesThatDoNotEnd) {
  for (std::string_view text : {"\"", "\"a", "\"a\\\"", "name=\"a b", "\"a\"b", "\"\\q\""}) {
    EXPECT_THROW((void)take_argument(text), UsageError) << text;
  }
}

TEST(Words, ReadBackWhatIsWritten) {
  for (const std::string text :
       {"a", "", " ", "a b", "\"", "\\", "#", "a #b", "name=a", "a\tb", "a\nb", "\xc3\xbc", "'"}) {
    for (const char* name : {"", "file"}) {
      const std::string word = argument_word(name, text);
      std::string_view rest = word;
      const Word read = take_argument(rest);
      EXPECT_EQ(read.name, name) << word;
      EXPECT_EQ(read.text, text) << word;
      EXPECT_EQ(rest, "") << word;
      EXPECT_EQ(without_comment(word + " # comment"), word + ' ');
    }
  }
}

TEST(Words, AQuoteWithinAWordIsNone) {
  EXPECT_EQ(without_comment("record 5\".csv # a\""), "record 5\".csv ");
  EXPECT_EQ(without_comment("record \"5.csv # a"), "record \"5.csv ");
}

}  // namespace
}  // namespace orrery::test
