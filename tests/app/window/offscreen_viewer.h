#pragma once

#include "app/window/run_view.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

/// A line of a script.
inline ScriptLine at(std::int64_t frame, Request request, int line = 1) {
  return {.frame = frame, .request = std::move(request), .line = line};
}

/// Runs without a window, in a folder of its own.
class OffscreenViewer : public testing::Test {
 protected:
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

  static std::string read(const std::string& file) { return contents(file); }

  static void run(const ViewOptions& options) { ASSERT_EQ(run_view(catalog(), options), 0); }

  /// The picture of the last frame, as a file.
  std::string picture_of(ViewOptions options, Script script = {}) const {
    if (!script.empty()) options.script = std::move(script);
    options.screenshot_file = path("picture.png");
    options.existing = Existing::replace;
    run(options);
    return read(options.screenshot_file);
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
  const TemporaryFolder folder_;
};

}  // namespace orrery::test
