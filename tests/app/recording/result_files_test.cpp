#include "app/recording/result_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "compute/core/temporary_folder.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

ResultFiles json_only(const std::string& path) {
  return {{.json = path}, Json::object(), {}};
}

TEST(ResultFiles, KeepsTheJsonThatWasSavedWhateverBecomesOfTheRest) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.json").string();
  { json_only(path).save({{"results", {1, 2, 3}}}); }
  EXPECT_EQ(Json::parse(test::contents(path))["results"].size(), 3u);
}

TEST(ResultFiles, ReplacesTheJsonThatWasSaved) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.json").string();
  ResultFiles files = json_only(path);
  files.save({{"results", {1, 2, 3}}});
  files.finish({{"results", {4}}});
  EXPECT_EQ(files.error(), "");
  EXPECT_EQ(Json::parse(test::contents(path)), (Json{{"results", {4}}}));
}

TEST(ResultFiles, WritesOneJsonIntoAPipe) {
  const TemporaryFolder folder;
  const std::string path = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  {
    ResultFiles files = json_only(path);
    files.save({{"results", {1, 2, 3}}});
    files.finish({{"results", {4}}});
  }
  std::array<char, 4096> text;
  const ssize_t size = read(reader, text.data(), text.size());
  close(reader);
  ASSERT_GT(size, 0);
  EXPECT_EQ(Json::parse(std::string(text.data(), static_cast<std::size_t>(size))), (Json{{"results", {4}}}));
}

TEST(ResultFiles, KeepsTheCsvToBeReplacedWhereNothingWasMeasured) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.csv").string();
  std::ofstream{path} << "precious";
  const std::array<std::string_view, 1> columns{"n"};
  {
    ResultFiles files{{.csv = path, .existing = Existing::replace}, Json::object(), columns};
    files.discard();
  }
  EXPECT_EQ(test::contents(path), "precious");
  ResultFiles files{{.csv = path, .existing = Existing::replace}, Json::object(), columns};
  files.add(std::array<std::string, 1>{"7"});
  EXPECT_NE(test::contents(path).find("\nn\n7\n"), std::string::npos);
}

}  // namespace
}  // namespace orrery
