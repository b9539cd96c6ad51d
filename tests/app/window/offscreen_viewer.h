#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/window/run_view.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

/// A line of a script.
inline ScriptLine at(std::int64_t frame, Request request) {
  return {.frame = frame, .request = std::move(request), .line = 1};
}

/// Runs without a window, in a folder of its own.
class OffscreenViewer : public testing::Test {
 protected:
  OffscreenViewer() { std::filesystem::create_directories(folder_); }
  ~OffscreenViewer() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  ViewOptions options(std::int64_t frames) const {
    ViewOptions options;
    options.scene = {.scene = "plummer", .count = 500};
    options.setup = {SelectKernel{"cpu-openmp"}};
    options.frames = frames;
    options.size = {160, 96};
    options.offscreen = true;
    options.panel = options.legend = false;
    return options;
  }

  static std::string read(const std::string& file) {
    std::stringstream text;
    text << std::ifstream{file, std::ios::binary}.rdbuf();
    return text.str();
  }

  /// The picture in such a file, without what the file says of it.
  static std::string pixels_of(const std::string& png) { return png.substr(png.find("IDAT")); }

  /// The rows of a recording by the names of its columns; no field of ours holds a comma.
  static std::vector<std::map<std::string, std::string>> rows(const std::string& file) {
    std::istringstream text{read(file)};
    std::string line;
    std::getline(text, line);
    EXPECT_EQ(line.substr(0, 3), "# {");
    const auto split = [](const std::string& joined) {
      std::vector<std::string> fields;
      std::istringstream stream{joined + ','};
      for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
      return fields;
    };
    std::getline(text, line);
    const auto names = split(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(text, line)) {
      const auto fields = split(line);
      EXPECT_EQ(fields.size(), names.size()) << line;
      rows.emplace_back();
      for (std::size_t i = 0; i < std::min(fields.size(), names.size()); ++i) rows.back()[names[i]] = fields[i];
    }
    return rows;
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      (std::string{"orrery_viewer_"} + testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace orrery::test
