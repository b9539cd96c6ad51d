#include "app/commands/window_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "app/ui_state/window_commands.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class WindowMemoryFile : public testing::Test {
 protected:
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
    try {
      (void)read_window_memory(file_);
      ADD_FAILURE() << text << " is taken";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos) << error.what();
      EXPECT_NE(std::string{error.what()}.find("window.json"), std::string::npos) << error.what();
    }
  }
  fs::remove(file_);
  fs::create_directories(file_);
  EXPECT_THROW((void)read_window_memory(file_), std::runtime_error) << "a folder";
}

TEST(WindowMemory, LiesInTheUsersConfiguration) {
  const auto kept = [](const char* name) {
    const char* const value = std::getenv(name);
    return value ? std::optional{std::string{value}} : std::nullopt;
  };
  const auto restore = [](const char* name, const std::optional<std::string>& value) {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  };
  const auto folder = kept("XDG_CONFIG_HOME"), home = kept("HOME");
  setenv("XDG_CONFIG_HOME", "/settings", 1);
  EXPECT_EQ(usual_memory_file(), "/settings/orrery/window.json");
  setenv("XDG_CONFIG_HOME", "settings", 1);
  setenv("HOME", "/house", 1);
  EXPECT_EQ(usual_memory_file(), "/house/.config/orrery/window.json");
  unsetenv("HOME");
  EXPECT_EQ(usual_memory_file(), "");
  EXPECT_NO_THROW(write_window_memory(usual_memory_file(), {}));
  restore("XDG_CONFIG_HOME", folder);
  restore("HOME", home);
}

}  // namespace
}  // namespace orrery
