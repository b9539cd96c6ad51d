// An error in a command is one line that names it and the valid choices.
#include <gtest/gtest.h>

#include <string>

#include "app/commands/argument_text.h"
#include "app/commands/command_entry.h"
#include "app/commands/command_text.h"
#include "app/ui_state/window_commands.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

template <class... Parts>
void expect_refused_text(const std::string& text, Parts... parts) {
  SCOPED_TRACE(text);
  expect_failure(
      Failure::usage, [&] { (void)parse_command(text); }, parts...);
}

template <class... Parts>
void expect_refused_json(const std::string& text, Parts... parts) {
  SCOPED_TRACE(text);
  expect_failure(
      Failure::usage, [&] { (void)command_of_json_text(text); }, parts...);
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
    expect_failure(
        Failure::usage, [&] { (void)read_value(sample, "sample", text); }, "sample", text, "from 1 to 4096 bodies");
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
      EXPECT_NE(reference.find(entry.name), std::string::npos) << entry.name;
      EXPECT_NE(reference.find(entry.sentence), std::string::npos) << entry.name;
    }
  }
  EXPECT_NE(text.find("\nunpin ROW\n"), std::string::npos);
  EXPECT_NE(text.find("\nprobe on|off\n"), std::string::npos);
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

}  // namespace
}  // namespace orrery
